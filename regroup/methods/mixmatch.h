#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "regroup/core/random.h"
#include "regroup/methods/method.h"

namespace regroup {

// MixMatch (Berthelot et al., NeurIPS 2019) in pieces, for the methods that continue with it once they have split the
// samples into labelled and unlabelled ones: guess labels, sharpen them, mix everything, and sum two losses.

/// Which samples keep their label, as what a method remembers of all samples: -1 for those that are not part of the
/// epoch, and 1 for a sample of the epoch whose label somebody has verified. `agrees` is of `slots`, see
/// Context::agreement.
void mark_agreeing(std::span<const std::int32_t> agrees, std::span<const std::uint32_t> slots, const Context& context,
                   std::span<std::int32_t> labelled);

/// How a batch is shared between labelled and unlabelled samples: half of it is unlabelled where those are more, a part
/// in proportion otherwise; a set that is not empty gets at least one image.
struct BatchShare {
  int labelled = 0, unlabelled = 0;
};
BatchShare share_batch(int batch_size, std::size_t labelled, std::size_t unlabelled);

/// The plans of both sets, labelled first, each of two views; a set without samples has none. `labelled` is 1 for the
/// samples that keep their label, 0 for the others, and -1 for those that are not part of the epoch. `stream` tells
/// several pairs of plans of one epoch apart.
std::vector<BatchPlan> split_plans(const Context& context, std::span<const std::int32_t> labelled, BatchShare share,
                                   int epoch, std::uint32_t stream = 0);

/// p^(1/T) of each row, normalised: T under 1 makes distributions more certain.
at::Tensor sharpened(const at::Tensor& probabilities, double temperature);

/// The mean of several predictions.
at::Tensor mean_of(std::span<const at::Tensor> predictions);

/// The mean of what a learner predicts for the views of a batch, in training, without gradients.
at::Tensor view_mean(Learner& learner, const TensorBatch& batch);

/// The same in evaluation.
at::Tensor view_mean_in_evaluation(Learner& learner, const TensorBatch& batch);

/// 0 before `start`, rising linearly to 1 over `length` epochs; `time` in epochs, with fractions.
double ramp(double time, double start, double length);

/// A weight for each class against unequal counts: mean count / count, at most `most`, and 0 where there is none.
std::vector<float> class_weights(std::span<const std::int32_t> labels, std::span<const std::int32_t> labelled,
                                 int classes, float most);

/// All views of both sets, mixed with a permutation of the whole: the share of an image is max(lambda, 1 - lambda),
/// lambda from Beta(alpha, alpha).
struct MixedBatch {
  at::Tensor images, targets;
  std::int64_t labelled_rows = 0;  ///< these come first
};
MixedBatch mix_sets(const TensorBatch& labelled, const at::Tensor& labelled_targets, const TensorBatch* unlabelled,
                    const at::Tensor& guessed_targets, double alpha, Stream& random);

/// The cross-entropy of the labelled rows, and the mean squared error of the others' softmax (not defined where there
/// are none).
struct MixMatchLosses {
  at::Tensor labelled, unlabelled;
};
MixMatchLosses mixmatch_losses(const at::Tensor& logits, const MixedBatch& batch, const at::Tensor& class_weights = {});

/// The two losses as one, and their means over an epoch.
class MixMatchTotal {
 public:
  void begin_epoch();

  /// labelled + weight * ramp * unlabelled.
  at::Tensor of(const MixMatchLosses& losses, double weight, double ramp);

  /// How many samples are `labelled`, both losses, and the ramp of the last step; not a number in an epoch without any.
  std::vector<Metric> metrics(std::size_t labelled) const;
  void collect(State& state);

 private:
  std::vector<float> sums_ = std::vector<float>(4);  ///< both losses, the steps, and the ramp of the last step
};

/// KL(uniform || mean prediction of the batch): no class may be forgotten.
at::Tensor uniform_prior_penalty(const at::Tensor& logits);

}  // namespace regroup
