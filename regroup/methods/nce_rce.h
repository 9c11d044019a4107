#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// Active passive loss: normalised and reverse cross-entropy (Ma et al., ICML 2020).
MethodInfo nce_rce_method();

/// NCE = log p_y / sum_k log p_k, for each class that the label could be.
at::Tensor normalised_cross_entropy(const at::Tensor& log_probabilities);

}  // namespace regroup
