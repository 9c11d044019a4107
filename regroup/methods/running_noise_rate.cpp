#include "regroup/methods/running_noise_rate.h"

#include <algorithm>
#include <iterator>

#include "regroup/stats/noise_rate.h"

namespace regroup {

double RunningNoiseRate::before(const Context& context, int epoch) {
  if (epoch == 0) return 0;
  const TrainingSet& samples = context.samples();
  const std::vector<float> losses = context.recorded_losses(context.epoch_slots(epoch - 1));
  const NoiseRate now = estimate_class_noise_rates(losses, samples.labels, samples.classes).overall;
  // A guess would forget right labels for good; state has room for the last few rates.
  if (now.reliable) {
    std::rotate(seen_.begin(), seen_.end() - 1, seen_.end());
    seen_.front() = static_cast<float>(now.rate);
  }
  std::vector<float> known;
  std::copy_if(seen_.begin(), seen_.end(), std::back_inserter(known), [](float x) { return !std::isnan(x); });
  if (known.empty()) return 0;
  std::sort(known.begin(), known.end());
  return static_cast<double>(known[known.size() / 2]);
}

void RunningNoiseRate::collect(State& state) { state.add("seen_rates", seen_, {0, 1, true}); }

}  // namespace regroup
