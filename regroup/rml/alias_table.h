#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace regroup {

/// Draws one of many with given odds in constant time (Walker 1977, Vose 1991). Eight bytes each.
class AliasTable {
 public:
  AliasTable() = default;

  /// The odds are finite, not negative, and not all 0.
  explicit AliasTable(std::span<const double> odds);

  /// Which one, by 64 random bits. The cell is the whole part of bits / 2^64 * cells, its coin the fraction.
  std::uint32_t pick(std::uint64_t bits) const {
    const auto product = static_cast<Wide>(bits) * cells_.size();
    const auto cell = static_cast<std::uint32_t>(product >> 64);
    const auto coin = static_cast<std::uint32_t>(product >> 32);
    const Cell& chosen = cells_[cell];
    // cell or alias, without a branch: the coin cannot be predicted.
    const std::uint32_t keep = -static_cast<std::uint32_t>(coin < chosen.keep);
    return chosen.alias ^ ((chosen.alias ^ cell) & keep);
  }

 private:
  __extension__ using Wide = unsigned __int128;

  struct Cell {
    std::uint32_t keep = 0;  ///< the cell's own one where 32 random bits are below this, else its alias
    std::uint32_t alias = 0;
  };

  std::vector<Cell> cells_;
};

}  // namespace regroup
