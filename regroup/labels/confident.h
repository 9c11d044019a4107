#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "regroup/labels/prediction_rows.h"

namespace regroup {

/// The class that is predicted for a sample, and by how much its score leads the next one.
struct Clearness {
  std::int32_t predicted = 0;
  float lead = 0;
};

/// Of one row of log-probabilities.
Clearness clearness_of(std::span<const float> row);

/// Of each predicted class the `share` of samples that are predicted most clearly, but at least `least` of them as far
/// as there are so many. Ascending.
std::vector<std::uint32_t> most_confident(std::span<const Clearness> samples, int classes, double share,
                                          std::size_t least = 1);

}  // namespace regroup
