#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace regroup {

/// Positions in an image set, ascending; each position is in one of the two.
struct Split {
  std::vector<std::uint32_t> train;
  std::vector<std::uint32_t> validation;
};

/// Puts round(share * N) of the samples aside for validation, a fair part of each label: its exact share rounded down
/// or up, so that the total is right (largest remainders first). A label keeps at least one sample for training. Which
/// samples are taken is a function of the seed and the labels alone. Labels are in 0 .. classes - 1, `share` in [0, 1).
Split split_validation(std::span<const std::int32_t> labels, int classes, double share, std::uint64_t seed);

/// The same for a test part of data that has none, with other random numbers; it comes as `validation`.
Split split_test(std::span<const std::int32_t> labels, int classes, double share, std::uint64_t seed);

/// `limit` positions, ascending, a fair part of each label; all if there are no more. If the limit allows it, each
/// label that occurs keeps at least one sample.
std::vector<std::uint32_t> stratified_subset(std::span<const std::int32_t> labels, int classes, std::size_t limit,
                                             std::uint64_t seed);

}  // namespace regroup
