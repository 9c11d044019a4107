#pragma once

#include <cstdint>
#include <span>

namespace regroup {

/// Step 4, the random groups. A group is a byte, so that the race can handle 32 samples in one instruction.
inline constexpr std::uint8_t no_group = 255;
inline constexpr int most_groups = 128;

/// A group by a random byte. Some groups are a little more likely than others; see balance_groups.
inline std::uint8_t group_of_byte(std::uint8_t byte, int groups) {
  return static_cast<std::uint8_t>(byte * groups >> 8);
}

/// Moves random members from groups that are too large to groups that are too small, until each has `per_group`.
///
/// Every member got a group independently of the others and by the same odds, and `pick` gives a uniformly random one
/// of them (or a place with no_group), so no step depends on which member is which: all permutations of the members are
/// equally likely, and therefore all ways to split them into equal groups are, whatever the odds were.
template <class Pick>
void balance_groups(std::span<std::uint32_t, 256> sizes, int groups, std::uint32_t per_group, Pick pick) {
  for (int group = 0; group < groups; ++group) {
    std::uint32_t& size = sizes[static_cast<std::size_t>(group)];
    while (size < per_group) {
      std::uint8_t& member = pick();
      if (sizes[member] <= per_group) continue;  // no_group has size 0
      --sizes[member];
      member = static_cast<std::uint8_t>(group);
      ++size;
    }
  }
}

}  // namespace regroup
