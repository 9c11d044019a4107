#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "regroup/core/random.h"
#include "regroup/methods/method.h"

namespace regroup {

// Images that are mixed with others, and what they then stand for (Zhang et al., mixup, ICLR 2018; Berthelot et al.,
// MixMatch, NeurIPS 2019).

/// The random numbers of a step that mixes.
Stream mixing_stream(std::uint64_t seed, const Step& step);

/// A number from Beta(alpha, alpha); alpha is more than 0.
double symmetric_beta(Stream& random, double alpha);

/// 0 .. count - 1 in random order.
std::vector<std::int64_t> permutation(Stream& random, std::int64_t count);

/// One-hot rows for labels, as float.
at::Tensor one_hot_rows(const at::Tensor& labels, std::int64_t classes);

/// Targets of which a share is spread evenly over all classes, as `label-smoothing` has it.
at::Tensor smoothed(const at::Tensor& targets, double share);

/// share * x + (1 - share) * x[partners], row by row.
at::Tensor mixed(const at::Tensor& x, const at::Tensor& partners, double share);

/// Images mixed with others of the batch, of which each keeps the larger share: max(lambda, 1 - lambda), lambda from
/// Beta(alpha, alpha).
struct MixedView {
  at::Tensor images, partners;
  double share;
};
MixedView mix_view(const at::Tensor& images, double alpha, Stream& random);

/// The cross-entropy of each row with a target that is a distribution; each class's term is multiplied by its weight
/// where there are weights.
at::Tensor soft_cross_entropy(const at::Tensor& logits, const at::Tensor& targets,
                              const at::Tensor& class_weights = {});

}  // namespace regroup
