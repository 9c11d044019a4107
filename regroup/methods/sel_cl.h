#pragma once

#include <ATen/core/Tensor.h>

#include "regroup/methods/method.h"

namespace regroup {

/// Sel-CL: selective-supervised contrastive learning (Li et al., CVPR 2022).
MethodInfo sel_cl_method();

/// The beta quantile of the cosines of all pairs of rows with the same label, each row with itself among them; to
/// within 1 / 32768. Rows have length 1.
double pair_threshold(const at::Tensor& rows, const at::Tensor& labels, double beta);

/// -log s of pairs that belong together, -log(1 - s) of the others, s being how likely two samples are of one class:
/// the product of their probabilities. Pairs that are not `counted` are 0.
at::Tensor similarity_losses(const at::Tensor& similarities, const at::Tensor& pairs, const at::Tensor& counted);

}  // namespace regroup
