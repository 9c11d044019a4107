#include "regroup/labels/confident.h"

#include <algorithm>
#include <cmath>

namespace regroup {

Clearness clearness_of(std::span<const float> row) {
  const auto best = static_cast<std::int32_t>(std::ranges::max_element(row) - row.begin());
  return {best, margin_of(row, best)};
}

std::vector<std::uint32_t> most_confident(std::span<const Clearness> samples, int classes, double share,
                                          std::size_t least) {
  std::vector<std::vector<std::uint32_t>> predicted(static_cast<std::size_t>(classes));
  for (std::size_t i = 0; i < samples.size(); ++i)
    predicted[static_cast<std::size_t>(samples[i].predicted)].push_back(static_cast<std::uint32_t>(i));
  std::vector<std::uint32_t> chosen;
  for (auto& members : predicted) {
    const auto part = static_cast<std::size_t>(std::ceil(share * static_cast<double>(members.size())));
    const std::size_t count = std::min(std::max(part, least), members.size());
    const auto last = members.begin() + static_cast<std::ptrdiff_t>(count);
    std::ranges::partial_sort(members, last, [&](std::uint32_t a, std::uint32_t b) {
      return samples[a].lead != samples[b].lead ? samples[a].lead > samples[b].lead : a < b;
    });
    chosen.insert(chosen.end(), members.begin(), last);
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace regroup
