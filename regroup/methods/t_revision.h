#pragma once

#include <ATen/core/Tensor.h>

#include "regroup/methods/method.h"

namespace regroup {

/// T-Revision (Xia et al., NeurIPS 2019).
MethodInfo t_revision_method();

/// beta = p_y / (T^t p)_y: how much a sample counts (Eq. 4), from log-probabilities of true and of observed labels.
at::Tensor importance(const at::Tensor& log_p, const at::Tensor& observed_log_p, const at::Tensor& labels);

/// T + dT as a matrix of probabilities: nothing below 0, and rows that sum to 1.
at::Tensor revised_transition(const at::Tensor& transition, const at::Tensor& slack);

}  // namespace regroup
