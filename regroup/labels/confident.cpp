#include "regroup/labels/confident.h"

#include <algorithm>
#include <cmath>

namespace regroup {

std::vector<std::uint32_t> most_confident(const PredictionRows& rows, double share, std::size_t least) {
  struct Lead {
    float lead;
    std::uint32_t sample;
  };
  std::vector<std::vector<Lead>> predicted(static_cast<std::size_t>(rows.classes));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row(i);
    const auto best = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
    predicted[best].push_back({margin_of(row, static_cast<std::int32_t>(best)), static_cast<std::uint32_t>(i)});
  }
  std::vector<std::uint32_t> chosen;
  for (auto& leads : predicted) {
    const auto part = static_cast<std::size_t>(std::ceil(share * static_cast<double>(leads.size())));
    const std::size_t count = std::min(std::max(part, least), leads.size());
    std::ranges::sort(
        leads, [](const Lead& a, const Lead& b) { return a.lead != b.lead ? a.lead > b.lead : a.sample < b.sample; });
    for (std::size_t k = 0; k < count; ++k) chosen.push_back(leads[k].sample);
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace regroup
