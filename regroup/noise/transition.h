#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace regroup {

/// How classes are mistaken for each other: the entry (from, to) is the probability that a sample of the clean class
/// `from` gets the label `to`.
class TransitionMatrix {
 public:
  /// A few such matrices of doubles still fit into memory.
  static constexpr int max_classes = 10'000;

  explicit TransitionMatrix(int classes = 0)
      : classes_(classes), entries_(static_cast<std::size_t>(classes) * static_cast<std::size_t>(classes)) {}

  int classes() const { return classes_; }
  double& operator()(int from, int to) { return entries_[position(from, to)]; }
  double operator()(int from, int to) const { return entries_[position(from, to)]; }
  std::span<const double> row(int from) const {
    return std::span(entries_).subspan(position(from, 0), static_cast<std::size_t>(classes_));
  }

 private:
  std::size_t position(int from, int to) const {
    return static_cast<std::size_t>(from) * static_cast<std::size_t>(classes_) + static_cast<std::size_t>(to);
  }

  int classes_;
  std::vector<double> entries_;
};

/// A label is flipped with probability `rate`, to each of the other classes alike.
TransitionMatrix symmetric_transition(int classes, double rate);

/// A label is redrawn with probability `rate` from all classes, its own included: wrong with rate * (1 - 1 / classes).
TransitionMatrix symmetric_all_transition(int classes, double rate);

/// A label is flipped with probability `rate` to the next class; the last class is flipped to the first.
TransitionMatrix pairflip_transition(int classes, double rate);

/// The label that a sample of class `clean` gets, from its row of probabilities and a uniform number in [0, 1).
int draw_label(std::span<const double> row, int clean, double uniform);

}  // namespace regroup
