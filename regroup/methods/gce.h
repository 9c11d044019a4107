#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// Generalised cross-entropy, truncated (Zhang & Sabuncu, NeurIPS 2018).
MethodInfo gce_method();

/// (1 - p^q) / q of each number, from log p: what the loss of a sample is for each class that its label could be.
/// Towards q = 0 it is cross-entropy, at q = 1 the mean absolute error.
at::Tensor generalised_cross_entropy(const at::Tensor& log_probabilities, double q);

}  // namespace regroup
