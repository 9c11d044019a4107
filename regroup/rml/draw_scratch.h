#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace regroup {

/// The buffers of one thread, kept from draw to draw.
struct DrawScratch {
  std::vector<float> losses;           ///< of those that are drawn; longer than that, see draw_room
  std::vector<std::uint8_t> group_of;  ///< the group of each of them
  std::vector<std::uint8_t> targets;   ///< the groups that have room
  std::vector<std::uint32_t> random;
  // Race, with a bit a position:
  std::vector<std::uint32_t> arrived;
  std::vector<std::uint32_t> look;  ///< the random byte is not all there is to it
  std::vector<std::pair<std::uint32_t, std::uint64_t>>
      ties;                                            ///< positions that the byte left open, with the bits that told
  std::vector<std::pair<double, std::uint32_t>> late;  ///< heavy samples that have not arrived: arrivals, position
  std::vector<std::pair<double, std::uint32_t>> keys;  ///< logarithms of keys, with positions
  // Alias:
  std::vector<std::uint32_t> drawn;  ///< positions in the order of the draw
  std::vector<std::uint64_t> seen;   ///< a bit a position, all 0 between draws
};

/// The length of `losses` and `group_of` for so many samples: whole vectors, and eight more than there are.
constexpr std::size_t draw_room(std::size_t count) { return (count + 8 + 31) / 32 * 32; }

}  // namespace regroup
