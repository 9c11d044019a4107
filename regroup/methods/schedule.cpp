#include "regroup/methods/schedule.h"

#include <cmath>
#include <numbers>
#include <string>

namespace regroup {

double learning_rate(const Settings& settings, double share) {
  const double peak = settings.number("lr"), rise = settings.number("lr-rise");
  if (share < rise) {
    const double start = settings.number("lr-start");
    return peak * (start + (1 - start) * share / rise);
  }
  const double last = settings.number("min-lr"), done = (share - rise) / (1 - rise);
  const std::string& schedule = settings.text("schedule");
  if (schedule == "cosine") return last + (peak - last) * (1 + std::cos(std::numbers::pi * done)) / 2;
  if (schedule == "linear") return peak + (last - peak) * done;
  if (schedule == "steps") return peak * std::pow(0.1, (share >= 0.5) + (share >= 0.75));
  return peak;
}

}  // namespace regroup
