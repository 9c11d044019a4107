#pragma once

#include <array>
#include <cstdint>
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
  std::vector<std::uint8_t> group_of;    ///< the group of each position (race) or of each draw (alias)
  std::array<std::uint32_t, 256> sizes;  ///< of the groups; no_group has 0
  // Race:
  std::vector<std::uint8_t> open;             ///< by position: a random byte does not tell whether the sample is drawn
  std::vector<std::uint32_t> open_positions;  ///< those positions,
  std::vector<std::uint64_t> open_bits;       ///< the further random bits that tell,
  std::vector<double> keys;                   ///< their keys
  std::vector<std::uint8_t> bucket_of;        ///< and where between the bounds the keys are
  std::vector<double> cut_keys;
  // Alias:
  std::vector<std::uint32_t> drawn;  ///< positions in the order of the draw
  std::vector<std::uint8_t> seen;    ///< flags by position, all 0 between draws
};

}  // namespace regroup
