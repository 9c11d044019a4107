#include "regroup/reproduce/estimate.h"

#include <chrono>
#include <map>

#include "regroup/train/run_data.h"
#include "regroup/train/trainer.h"

namespace regroup {
namespace {

using Clock = std::chrono::steady_clock;

/// Times some steps and asks the run to stop. The first step, which is slower, does not count.
class Stopwatch : public Observer {
 public:
  std::atomic<bool> enough = false;

  void step_done(const StepReport&) override {
    if (steps_++ == 0) start_ = Clock::now();
    seconds_ = std::chrono::duration<double>(Clock::now() - start_).count();
    if (steps_ > 3 && seconds_ > 2) enough = true;
  }
  void epoch_done(const EpochMetrics&) override { enough = true; }

  double seconds_a_step() const { return steps_ > 1 ? seconds_ / (steps_ - 1) : 0; }

 private:
  int steps_ = 0;
  double seconds_ = 0;
  Clock::time_point start_;
};

/// From the time of some steps: an image that is only predicted costs a third of one that is learnt from.
double measured_seconds(const Settings& settings) {
  Stopwatch stopwatch;
  Observer silent;
  const RunData data = load_run_data(settings, static_cast<int>(settings.integer("threads")), silent);
  train(settings, {{}, false, &stopwatch.enough}, stopwatch);
  const double per_image = stopwatch.seconds_a_step() / static_cast<double>(settings.integer("batch-size"));
  const auto epochs = static_cast<double>(settings.integer("epochs"));
  const double evaluations = std::max(1.0, epochs / static_cast<double>(settings.integer("eval-every")));
  const double predictors = settings.number("ema") > 0 ? 2 : 1;
  const double predicted =
      static_cast<double>(data.dataset.test.count) + static_cast<double>(data.split.validation.size());
  return per_image * (epochs * static_cast<double>(data.split.train.size()) + evaluations * predictors * predicted / 3);
}

}  // namespace

std::vector<RunEstimate> estimate_runs(const std::vector<PlannedRun>& plan, const RunnerOptions& options) {
  std::map<std::string, double> per_epoch;
  std::map<std::string, bool> finished;
  for (const PlannedRun& run : plan) {
    const RunState state = options.folder.state(run.name);
    if (state.kind != RunState::Kind::done || state.epochs_done == 0) continue;
    per_epoch[run_kind(run.settings)] = state.seconds / static_cast<double>(state.epochs_done);
    finished[run_kind(run.settings)] = true;
  }
  std::vector<RunEstimate> estimates;
  for (const PlannedRun& run : plan) {
    const std::string kind = run_kind(run.settings);
    const auto epochs = static_cast<double>(run.settings.integer("epochs"));
    if (!per_epoch.contains(kind)) per_epoch[kind] = measured_seconds(options.settings_of(run)) / epochs;
    estimates.push_back({per_epoch[kind] * epochs, finished[kind]});
  }
  return estimates;
}

}  // namespace regroup
