#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace regroup {

/// Values in rising order with how many samples each stands for.
struct CondensedValues {
  std::vector<double> values;
  std::vector<double> counts;
  double total = 0;  ///< the number of samples
};

/// Throws UserError that names the first value that is not finite.
void check_finite(std::span<const float> values);

/// The values themselves where there are at most `points`; otherwise means of runs of neighbours in the sorted order. A
/// run ends when it holds total/points samples, so that the bulk is fine, or when it spans 4/points of the range, so
/// that a sparse tail is not drawn into one point. At most 1.25 * points + 1 runs. The values have to be finite.
CondensedValues condense(std::span<const float> values, std::size_t points);

}  // namespace regroup
