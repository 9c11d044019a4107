#pragma once

#include <cstdint>
#include <span>

#include "regroup/core/random.h"

namespace regroup {

/// Step 4, the random groups. A group is a byte, so that the race can handle 32 samples in one instruction.
inline constexpr std::uint8_t no_group = 255;
inline constexpr int most_groups = 128;

/// A group by a random byte. Some groups are a little more likely than others; see balance_groups.
inline std::uint8_t group_of_byte(std::uint8_t byte, int groups) {
  return static_cast<std::uint8_t>(byte * groups >> 8);
}

/// Moves random members from groups that are too large to groups that are too small, until each has `per_group`.
/// `group_of` has the group of each member, and no_group, whose size is 0, at places that hold none.
///
/// Every member got a group independently of the others and by the same odds, and the ones that are moved are picked
/// uniformly, so no step depends on which member is which: all permutations of the members are equally likely, and
/// therefore all ways to split them into equal groups are, whatever the odds were.
void balance_groups(std::span<std::uint8_t> group_of, std::span<std::uint32_t, 256> sizes, int groups,
                    std::uint32_t per_group, Stream& stream);

}  // namespace regroup
