#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// UNICON (Karim et al., CVPR 2022).
MethodInfo unicon_method();

/// The Jensen-Shannon divergence of each prediction, a row of probabilities, from its label, in bits: 0 to 1.
std::vector<float> label_divergences(const at::Tensor& probabilities, std::span<const std::int32_t> labels);

/// d_cutoff: the mean, or, where that is above `high`, less by a share 1 / tau of what it is above the least.
double divergence_cut(std::span<const float> divergences, double high, double tau);

}  // namespace regroup
