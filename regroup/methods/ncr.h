#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// Neighbour consistency regularisation (Iscen et al., CVPR 2022).
MethodInfo ncr_method();

/// How much each row of a batch listens to each other one, by the cosine of their features: to its `count` nearest, in
/// shares that sum to 1; a negative cosine counts as 0.
at::Tensor neighbour_shares(const at::Tensor& features, int count);

/// T^2 KL(sum_j share_ij softmax(z_j / T) || softmax(z_i / T)) of each row.
at::Tensor neighbour_divergence(const at::Tensor& logits, const at::Tensor& shares, double temperature);

}  // namespace regroup
