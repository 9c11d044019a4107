#include "regroup/rml/alias_table.h"

#include <numeric>

namespace regroup {

AliasTable::AliasTable(std::span<const double> odds) : cells_(odds.size()) {
  // Vose's construction: a cell with less than its share is topped up by one that has more than its share.
  const double sum = std::accumulate(odds.begin(), odds.end(), 0.0);
  std::vector<double> share(odds.begin(), odds.end());
  for (double& one : share) one *= static_cast<double>(odds.size()) / sum;
  std::vector<std::uint32_t> poor, rich;
  for (std::uint32_t i = 0; i < share.size(); ++i) (share[i] < 1 ? poor : rich).push_back(i);
  while (!poor.empty() && !rich.empty()) {
    const std::uint32_t small = poor.back();
    const std::uint32_t large = rich.back();
    poor.pop_back();
    cells_[small] = {static_cast<std::uint32_t>(share[small] * 0x1p32), large};
    share[large] -= 1 - share[small];
    if (share[large] < 1) {
      rich.pop_back();
      poor.push_back(large);
    }
  }
  // What is left has its full share, up to rounding.
  for (const auto& rest : {poor, rich})
    for (const std::uint32_t i : rest) cells_[i] = {0, i};
}

}  // namespace regroup
