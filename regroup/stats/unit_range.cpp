#include "regroup/stats/unit_range.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "regroup/stats/condensed.h"

namespace regroup {

double UnitRange::place(double value) const {
  if (value <= low) return 0;
  if (value >= high) return 1;
  return (value - low) / (high - low);
}

UnitRange quantile_range(std::span<const float> values, double lower, double upper) {
  check_finite(values);
  if (values.empty()) return {};
  std::vector<float> work(values.begin(), values.end());
  // Between two order statistics the quantile is interpolated, as NumPy's percentile does.
  const auto quantile = [&work](double share) {
    const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(work.size() - 1);
    const auto below = work.begin() + static_cast<std::ptrdiff_t>(at);
    std::nth_element(work.begin(), below, work.end());
    const double first = *below;
    if (below + 1 == work.end()) return first;
    const double second = *std::min_element(below + 1, work.end());
    return first + (at - std::floor(at)) * (second - first);
  };
  return {quantile(lower), quantile(upper)};
}

std::vector<float> normalise(std::span<const float> values, const UnitRange& range) {
  std::vector<float> out;
  out.reserve(values.size());
  for (const float value : values) out.push_back(static_cast<float>(range.place(value)));
  return out;
}

std::vector<float> normalise_trimmed(std::span<const float> values, const UnitRange& range) {
  std::vector<float> out;
  for (const float value : values) {
    if (range.contains(value)) out.push_back(static_cast<float>(range.place(value)));
  }
  return out;
}

}  // namespace regroup
