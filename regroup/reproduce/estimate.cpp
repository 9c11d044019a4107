#include "regroup/reproduce/estimate.h"

#include <atomic>
#include <map>

#include "regroup/core/clock.h"
#include "regroup/train/run_data.h"
#include "regroup/train/trainer.h"

namespace regroup {
namespace {

/// Times steps from the end of the first, which is slower, and asks the run to stop after the last.
class Stopwatch : public Observer {
 public:
  explicit Stopwatch(int steps) : steps_(steps) {}

  void step_done(const StepReport&) override {
    if (done_++ == 0) start_ = clock_seconds();
    seconds_ = clock_seconds() - start_;
    if (done_ == steps_) enough = true;
  }

  double seconds_a_step() const { return done_ > 1 ? seconds_ / (done_ - 1) : 0; }

  std::atomic<bool> enough = false;

 private:
  int steps_, done_ = 0;
  double start_ = 0, seconds_ = 0;
};

/// From a run of the same shape that has one batch an epoch: phases that are shares of a run have their share of it. An
/// image that is only predicted costs a third of one that is learnt from.
double measured_seconds(const Settings& settings) {
  constexpr int small_epochs = 8;
  const std::int64_t batch_size = settings.integer("batch-size");
  Settings small = settings;
  small.set("epochs", std::int64_t{small_epochs}, "estimate");
  small.set("limit", batch_size, "estimate");
  small.set("val-split", 0.0, "estimate");
  small.set("eval-every", std::int64_t{small_epochs}, "estimate");
  Stopwatch stopwatch(small_epochs);
  train(small, {{}, false, &stopwatch.enough}, stopwatch);

  Observer silent;
  const RunData data = load_run_data(settings, static_cast<int>(settings.integer("threads")), silent);
  const double per_image = stopwatch.seconds_a_step() / static_cast<double>(batch_size);
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
