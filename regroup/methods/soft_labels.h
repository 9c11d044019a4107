#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "regroup/methods/context.h"

namespace regroup {

/// Labels that are distributions over the classes, or logits of such, a row per sample, as a method changes them.
class SoftLabels {
 public:
  /// A sample begins with `scale` times the one-hot row of its label, when it is first asked for: until then its row is
  /// 0, since an epoch that draws its samples knows no others.
  SoftLabels(const Context& context, double scale);

  at::Tensor& rows() { return rows_; }
  at::Tensor of(const TensorBatch& batch);

  /// Notes which classes are the likeliest now: what labelled() and guesses() say. A sample that was not asked for is
  /// not decided: -1.
  void look(const Context& context);

  /// Which samples keep their label, and the label that the others get.
  std::span<const std::int32_t> labelled() const { return labelled_; }
  std::span<const std::int32_t> guesses() const { return guesses_; }

  /// How many samples have another label than they came with.
  double changed() const;

  /// Neither is what look() saw: it looks again at the end of each epoch.
  void collect(State& state, double low, double high) { state.add("soft_labels", rows_, {low, high}); }

 private:
  double scale_;
  at::Tensor rows_;
  std::vector<std::int32_t> labelled_, guesses_;
};

}  // namespace regroup
