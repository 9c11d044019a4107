#pragma once

#include <cstdint>
#include <vector>

#include "regroup/labels/prediction_rows.h"

namespace regroup {

/// Of each predicted class the `share` of samples that are predicted most clearly, by the lead of the likeliest class
/// over the next, but at least `least` of them as far as there are so many. Ascending.
std::vector<std::uint32_t> most_confident(const PredictionRows& rows, double share, std::size_t least = 1);

}  // namespace regroup
