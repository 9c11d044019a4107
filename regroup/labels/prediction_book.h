#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "regroup/core/softmax.h"
#include "regroup/core/workers.h"

namespace regroup {

/// What a network said about each sample, averaged over the turns that the sample had: its probabilities, its loss and
/// its margin. Up to `few` classes the probabilities are exact. Beyond, the likeliest few of each sample and its own
/// label are kept, and the others share what is left, so that a sample takes tens of bytes however many classes there
/// are.
///
///     PredictionBook book(labels, classes);
///     book.record(slots, logits);              // a row of logits, or log-probabilities, per slot
///     book.read(slot, probabilities);          // the mean over its turns
class PredictionBook {
 public:
  /// More classes than these are kept as the likeliest `kept`.
  static constexpr int few = 16, kept = 8;

  /// `labels` are the given ones, 0 .. classes - 1.
  PredictionBook(std::vector<std::int32_t> labels, int classes);

  /// Adds a turn of samples[i], whose logits are row i. Probabilities that are not finite count as 0. Unless it is
  /// empty, `predicted` has a place for each sample of the book, and those of these get their likeliest class.
  void record(std::span<const std::uint32_t> samples, std::span<const float> logits,
              std::span<std::int32_t> predicted = {}, const Workers& workers = one_by_one());

  /// The mean probabilities of a sample, which sum to 1; equal ones for a sample that had no turn.
  void read(std::size_t sample, std::span<float> probabilities) const;

  int turns(std::size_t sample) const { return turns_[sample]; }
  float loss(std::size_t sample) const { return losses_[sample]; }  ///< the mean cross-entropy of the given label
  float margin(std::size_t sample) const {
    return margins_[sample];
  }  ///< the mean lead of its logit over the best other

  std::size_t size() const { return labels_.size(); }
  int classes() const { return classes_; }
  bool empty() const;  ///< no sample had a turn
  const std::vector<std::int32_t>& labels() const { return labels_; }

  /// Whether a book that was restored is one that can have been saved.
  bool sound() const;

  // For saving and restoring the book. `names` is empty where all classes are kept.
  std::vector<float>& shares() { return shares_; }
  std::vector<std::int32_t>& names() { return names_; }
  std::vector<std::int32_t>& turn_counts() { return turns_; }
  std::vector<float>& losses() { return losses_; }
  std::vector<float>& margins() { return margins_; }

 private:
  std::size_t width() const { return names_.empty() ? static_cast<std::size_t>(classes_) : kept; }
  void fetch(std::size_t sample) const;
  void add_turn(std::size_t sample, std::span<const float> probabilities);
  void take_turn(std::size_t sample, const LabelScore& score, std::span<float> probabilities);
  void add_turn_of_few(std::size_t sample, std::span<const float> probabilities);

  std::vector<std::int32_t> labels_;
  int classes_;
  std::vector<float> shares_;        ///< width() per sample
  std::vector<std::int32_t> names_;  ///< the classes that these are of; the first is the given label
  std::vector<std::int32_t> turns_;
  std::vector<float> losses_, margins_;
};

}  // namespace regroup
