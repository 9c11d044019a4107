#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// Joint optimisation (Tanaka et al., CVPR 2018).
MethodInfo joint_optim_method();

/// H(p) of each row.
at::Tensor entropies(const at::Tensor& logits);

/// The mean of each sample's predictions, of which `history` has some epochs' (epochs x samples x classes); not a
/// number stands for no turn in that epoch, and a sample without any has the row of `otherwise`.
at::Tensor mean_predictions(const at::Tensor& history, const at::Tensor& otherwise);

}  // namespace regroup
