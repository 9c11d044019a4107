#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace regroup {

/// The samples of each observed label: the paper's D_y for every y. Four bytes per sample, and four for its label.
class ClassIndex {
 public:
  /// `labels[i]` is the observed label of sample i, in 0 .. classes - 1. Throws UserError that names the sample if it
  /// is not.
  ClassIndex(std::span<const std::int32_t> labels, int classes);

  int classes() const { return static_cast<int>(begin_.size()) - 1; }
  std::size_t size() const { return labels_.size(); }
  std::int32_t label(std::size_t sample) const { return labels_[sample]; }
  std::span<const std::int32_t> labels() const { return labels_; }

  /// The samples with label y, in rising order.
  std::span<const std::uint32_t> members(std::int32_t y) const {
    const auto at = static_cast<std::size_t>(y);
    return std::span(samples_).subspan(begin_[at], begin_[at + 1] - begin_[at]);
  }

  /// All samples, class after class.
  std::span<const std::uint32_t> by_class() const { return samples_; }

 private:
  std::vector<std::int32_t> labels_;
  std::vector<std::uint32_t> samples_;
  std::vector<std::size_t> begin_;
};

}  // namespace regroup
