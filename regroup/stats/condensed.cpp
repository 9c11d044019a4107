#include "regroup/stats/condensed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "regroup/core/error.h"

namespace regroup {

void check_finite(std::span<const float> values) {
  const auto odd = std::find_if_not(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
  if (odd == values.end()) return;
  throw UserError(fmt::format("value {} of {} is {}; a mixture is fitted to finite values only", odd - values.begin(),
                              values.size(), *odd));
}

CondensedValues condense(std::span<const float> values, std::size_t points) {
  std::vector<float> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  CondensedValues out;
  out.total = static_cast<double>(sorted.size());
  if (sorted.size() <= points) {
    out.values.assign(sorted.begin(), sorted.end());
    out.counts.assign(sorted.size(), 1.0);
    return out;
  }
  const std::size_t most = (sorted.size() + points - 1) / points;
  const double range = static_cast<double>(sorted.back()) - sorted.front();
  const double widest = 4 * range / static_cast<double>(points);
  double begin = sorted.front(), sum = 0;
  std::size_t count = 0;
  const auto end_run = [&] {
    out.counts.push_back(static_cast<double>(count));
    out.values.push_back(sum / out.counts.back());
    sum = 0;
    count = 0;
  };
  for (const double value : sorted) {
    if (count == most || (count > 0 && value - begin > widest)) end_run();
    if (count == 0) begin = value;
    sum += value;
    ++count;
  }
  end_run();
  return out;
}

}  // namespace regroup
