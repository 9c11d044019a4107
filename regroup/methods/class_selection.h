#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace regroup {

/// Of each class the same number of samples, those with the smallest values; a class that has fewer stays whole. 1 for
/// those, 0 for the others.
std::vector<std::int32_t> smallest_of_each_class(std::span<const float> values, std::span<const std::int32_t> labels,
                                                 int classes, std::size_t count);

}  // namespace regroup
