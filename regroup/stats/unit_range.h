#pragma once

#include <span>
#include <vector>

namespace regroup {

/// The stretch of a scale that is mapped onto [0, 1].
struct UnitRange {
  double low = 0;
  double high = 1;

  bool contains(double value) const { return value >= low && value <= high; }

  /// 0 at `low`, 1 at `high`, and no further on either side. Where they are one point, 0 up to it and 1 above.
  double place(double value) const;
};

/// From the `lower` to the `upper` quantile of the values (0 and 1: from the smallest to the largest), or [0, 1] if
/// there are no values. Throws UserError that names the first value that is not finite.
UnitRange quantile_range(std::span<const float> values, double lower = 0, double upper = 1);

/// Every value at its place: what DivideMix hands to its Gaussian mixture, with the full range.
std::vector<float> normalise(std::span<const float> values, const UnitRange& range);

/// The values within the range, at their places: what M-correction fits its beta mixture to, with the 5 % and 95 %
/// quantiles. Values outside are left out here, and get the posterior of the range's end.
std::vector<float> normalise_trimmed(std::span<const float> values, const UnitRange& range);

}  // namespace regroup
