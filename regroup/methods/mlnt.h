#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "regroup/core/random.h"
#include "regroup/methods/method.h"

namespace regroup {

/// MLNT, meta-learning of noise-tolerant training (Li et al., CVPR 2019).
MethodInfo mlnt_method();

/// Synthetic noise: a random half of a batch gets the label of one of its `neighbours` nearest in the batch by their
/// features, drawn at random.
at::Tensor synthetic_labels(const at::Tensor& labels, const at::Tensor& features, std::int64_t neighbours,
                            Stream& random);

/// theta' = theta - rate * (gradient of the loss), for parameters that `loss` was computed with, in tensors that know
/// how they came from theta: a loss of theta' has a gradient by theta. A parameter that is not learnt stays as it is.
std::vector<at::Tensor> after_one_step(const at::Tensor& loss, const std::vector<at::Tensor>& parameters, double rate);

/// The weight of the meta loss, which rises as exp(-5 (1 - u)^2) while u goes from 0 to 1.
double meta_ramp(double u);

}  // namespace regroup
