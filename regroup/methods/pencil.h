#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// PENCIL: probabilistic end-to-end noise correction (Yi & Wu, CVPR 2019), PCIL in the tables of the paper of RML.
MethodInfo pencil_method();

/// KL(p || softmax(t)) of each row.
at::Tensor classification_divergence(const at::Tensor& logits, const at::Tensor& t);

}  // namespace regroup
