#include "regroup/train/epoch_time.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "regroup/core/clock.h"
#include "regroup/train/trainer.h"

namespace regroup {
namespace {

/// An image that is only predicted costs a third of one that is learnt from.
constexpr double predicting_cost = 1.0 / 3;

/// To measure all test images takes longer than this: their cost is computed instead.
constexpr double longest_evaluation = 5;

/// Not the mean: others may use the machine, and a step that has to wait takes many times as long.
double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The images of an epoch.
double epoch_images(const Settings& settings, double train) {
  const auto drawn = static_cast<double>(settings.integer("epoch-batches") * settings.integer("batch-size"));
  return drawn > 0 ? std::min(train, drawn) : train;
}

/// Takes the times of a run. The first step of an epoch waits for its first batch, and is apart from the others.
class Stopwatch : public Observer {
 public:
  struct Epoch {
    double first = 0;  ///< seconds to the end of the first step
    std::vector<double> others;
    double end = 0;  ///< from the last step to the end of the epoch: the losses become weights, it is measured

    /// `decodes`: each step has to wait for its images, though only the first one shows it where there are few.
    double step(bool decodes) const {
      if (decodes)
        return std::accumulate(others.begin(), others.end(), first) / (static_cast<double>(others.size()) + 1);
      return others.empty() ? first : median(others);
    }
  };

  /// `predicted` images are predicted after the last epoch.
  Stopwatch(double images, double predicted, bool decodes)
      : images_(images), predicted_(predicted), decodes_(decodes) {}

  void step_done(const StepReport& report) override {
    const double seconds = lap();
    if (report.step == 1)
      epochs.push_back({seconds, {}, 0});
    else
      epochs.back().others.push_back(seconds);
    if (report.epoch == report.epochs && report.step == report.steps)
      enough =
          predicted_ / images_ * static_cast<double>(report.steps) * epochs.back().step(decodes_) * predicting_cost >
          longest_evaluation;
  }

  void epoch_done(const EpochMetrics& /*metrics*/, int /*epochs*/) override { epochs.back().end = lap(); }

  std::vector<Epoch> epochs;
  std::atomic<bool> enough = false;  ///< the last evaluation would take too long

 private:
  double lap() { return clock_seconds() - std::exchange(start_, clock_seconds()); }

  double images_, predicted_;
  bool decodes_;
  double start_ = clock_seconds();
};

}  // namespace

RunCounts counts_of(const RunData& data) {
  RunCounts counts{static_cast<double>(data.split.train.size()), static_cast<double>(data.split.validation.size()), 0};
  for (const TestSet& test : data.dataset.tests) counts.tests += static_cast<double>(test.set.size());
  return counts;
}

double measured_epoch_seconds(const Settings& settings, RunData sample, const RunCounts& counts) {
  constexpr std::int64_t small_epochs = 6;
  const RunCounts small = counts_of(sample);
  const double images = epoch_images(settings, counts.train), few = epoch_images(settings, small.train);
  Settings shorter = settings;
  shorter.set("epochs", small_epochs, "estimate");
  shorter.set("eval-every", small_epochs, "estimate");
  const double predictors = settings.number("ema") > 0 ? 2 : 1;
  const bool decodes = sample.dataset.train.source->decodes();
  Stopwatch stopwatch(few, predictors * small.tests, decodes);
  train(shorter, std::move(sample), {{}, false, &stopwatch.enough}, stopwatch);

  // The first epoch sets up what the others use again: the second stands for it.
  auto& epochs = stopwatch.epochs;
  epochs.front() = epochs[1];
  const double larger = images / few;
  double per_epoch = 0, per_image = 0;
  std::vector<double> ends;  // of the epochs without an evaluation
  for (std::size_t i = 0; i + 1 < epochs.size(); ++i) ends.push_back(epochs[i].end);
  for (const Stopwatch::Epoch& epoch : epochs) {
    const auto steps = static_cast<double>(epoch.others.size() + 1);
    const double step = epoch.step(decodes);
    per_image += steps * step / few / small_epochs;
    per_epoch += ((decodes ? step : epoch.first) + (steps * larger - 1) * step + median(ends) * larger) / small_epochs;
  }
  double evaluation = per_image * predicting_cost * predictors * (counts.tests + counts.validation);
  // In the end the training images of an epoch are predicted once.
  double last = images * per_image * predicting_cost;
  if (!stopwatch.enough && small.tests > 0) {
    const double each = std::max(0.0, epochs.back().end - median(ends)) / (small.tests + few);
    evaluation = each * (counts.tests + counts.validation);
    last = each * images;
  }
  const auto total = static_cast<double>(settings.integer("epochs"));
  const double evaluations = std::ceil(total / static_cast<double>(settings.integer("eval-every")));
  return per_epoch + (evaluations * evaluation + last) / total;
}

}  // namespace regroup
