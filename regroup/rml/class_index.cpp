#include "regroup/rml/class_index.h"

#include <fmt/format.h>

#include <limits>

#include "regroup/core/error.h"

namespace regroup {

ClassIndex::ClassIndex(std::span<const std::int32_t> labels, int classes) : labels_(labels.begin(), labels.end()) {
  if (classes < 1) throw UserError(fmt::format("{} classes; there must be at least one", classes));
  if (labels.size() > std::numeric_limits<std::uint32_t>::max())
    throw UserError(fmt::format("{} samples; at most 4294967295 are supported", labels.size()));

  begin_.assign(static_cast<std::size_t>(classes) + 1, 0);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= classes)
      throw UserError(fmt::format("label {} of sample {} is outside 0..{}", labels[i], i, classes - 1));
    ++begin_[static_cast<std::size_t>(labels[i]) + 1];
  }
  for (std::size_t y = 1; y < begin_.size(); ++y) begin_[y] += begin_[y - 1];

  samples_.resize(labels.size());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for (std::size_t i = 0; i < labels.size(); ++i)
    samples_[next[static_cast<std::size_t>(labels[i])]++] = static_cast<std::uint32_t>(i);
}

}  // namespace regroup
