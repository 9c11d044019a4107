#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace regroup {

/// Step 1: the last recorded cross-entropy of every sample. A sample that has no turn in an epoch (the dropped tail
/// batch) keeps the loss of an earlier one.
class LossBook {
 public:
  /// The loss of a sample that was never recorded. Such a sample is not drawn, and its weight is 1.
  static constexpr float unrecorded = -1;

  explicit LossBook(std::size_t samples) : losses_(samples, unrecorded), fresh_(samples, false) {}

  /// Forgets which samples were recorded; their losses stay.
  void begin_epoch() { fresh_.assign(fresh_.size(), false); }

  /// Records losses[i] for samples[i]. Throws UserError that names the sample where a loss is negative or not finite;
  /// what stood before it in the batch is recorded then.
  void record(std::span<const std::uint32_t> samples, std::span<const float> losses);

  /// Takes over what another shard of the same dataset has recorded in this epoch.
  void merge(const LossBook& other);

  std::span<const float> losses() const { return losses_; }

  /// For saving and restoring the book.
  std::vector<float>& values() { return losses_; }

  bool recorded_this_epoch(std::size_t sample) const { return fresh_[sample]; }
  std::size_t size() const { return losses_.size(); }

 private:
  std::vector<float> losses_;
  std::vector<bool> fresh_;
};

}  // namespace regroup
