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

/// What an epoch that is a fresh subset trains on: `count` positions, ascending, each at most once; all if there are no
/// more. Another subset for each epoch, a function of the arguments alone. Balanced: the same number of each label, as
/// far as there are so many; what a rare label lacks is shared by the others. Otherwise every sample is equally likely.
std::vector<std::uint32_t> epoch_subset(std::span<const std::int32_t> labels, int classes, std::size_t count,
                                        bool balanced, std::uint64_t seed, std::uint32_t epoch);

}  // namespace regroup
