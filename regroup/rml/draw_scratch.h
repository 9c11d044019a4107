#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace regroup {

/// A sample that is drawn: its position among the members of its class, and its group.
struct Drawn {
  std::uint32_t position;
  std::uint8_t group;
};

/// The buffers of one thread, kept from draw to draw.
struct DrawScratch {
  std::vector<std::uint32_t> random;
  std::vector<std::uint8_t> group_of;      ///< the group of each position (race) or of each draw (alias)
  std::array<std::uint32_t, 256> sizes{};  ///< of the groups; no_group has 0
  // Race:
  std::vector<std::uint32_t> look;  ///< a bit a position: the random byte is not all there is to it
  std::vector<std::pair<std::uint32_t, std::uint64_t>>
      ties;                                            ///< positions that the byte left open, with the bits that told
  std::vector<std::pair<double, std::uint32_t>> late;  ///< heavy samples that have not arrived: arrivals, position
  std::vector<std::pair<double, std::uint32_t>> keys;  ///< logarithms of keys, with positions
  // Alias:
  std::vector<std::uint32_t> drawn;  ///< positions in the order of the draw
  std::vector<std::uint64_t> seen;   ///< a bit a position, all 0 between draws
};

}  // namespace regroup
