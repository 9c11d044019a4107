#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// Symmetric cross-entropy (Wang et al., ICCV 2019).
MethodInfo sce_method();

/// RCE = -sum_k p_k log y_k, which is -A (1 - p) of the label's probability p, with A for log 0: what the loss of a
/// sample is for each class that its label could be.
at::Tensor reverse_cross_entropy(const at::Tensor& log_probabilities, double log_zero);

}  // namespace regroup
