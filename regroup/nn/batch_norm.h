#pragma once

#include <ATen/core/Tensor.h>

#include "regroup/nn/activation.h"

namespace regroup {

/// What a batch normalisation learns, and what it remembers for evaluation.
struct BatchNorm {
  at::Tensor weight, bias;
  at::Tensor running_mean, running_var;
  at::Tensor num_batches_tracked;  ///< as torchvision's networks have it

  double epsilon = 1e-5;
  double momentum = 0.1;  ///< the share of a batch in the running statistics
};

/// activation(batch_norm(x) + addend), the addend optional. `training`: with the statistics of the batch, which the
/// running ones follow; otherwise with the running ones, which stay. On a CPU with the channels last (and a multiple of
/// 8 of them) all of it is one pass over memory for the statistics and one for the rest, and two for the gradient;
/// elsewhere it is the engine's own operations. The fused form gives first derivatives only.
at::Tensor batch_norm(const at::Tensor& x, const BatchNorm& norm, bool training, Activation activation,
                      const at::Tensor& addend = {});

}  // namespace regroup
