#include "regroup/methods/class_selection.h"

#include <algorithm>

namespace regroup {

std::vector<std::int32_t> smallest_of_each_class(std::span<const float> values, std::span<const std::int32_t> labels,
                                                 int classes, std::size_t count) {
  std::vector<std::vector<std::size_t>> members(static_cast<std::size_t>(classes));
  for (std::size_t i = 0; i < labels.size(); ++i) members[static_cast<std::size_t>(labels[i])].push_back(i);
  std::vector<std::int32_t> selected(labels.size(), 0);
  for (auto& member : members) {
    std::stable_sort(member.begin(), member.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    for (std::size_t i = 0; i < std::min(count, member.size()); ++i) selected[member[i]] = 1;
  }
  return selected;
}

}  // namespace regroup
