#pragma once

#include <ATen/core/Tensor.h>

namespace regroup {

/// The cross-entropy of each row of fp32 logits with its label, which is of the type long. On a CPU in one pass over
/// the logits, and one for the gradient.
at::Tensor label_losses(const at::Tensor& logits, const at::Tensor& labels);

}  // namespace regroup
