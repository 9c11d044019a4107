#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// Sparse over-parameterisation (Liu et al., ICML 2022).
MethodInfo sop_method();

/// What is taken for wrong about labels: the share u^2 of the label that it does not deserve, and the shares v^2 that
/// other classes lack. Both are clipped to [0, 1]; `labels` are one-hot rows.
struct LabelOffset {
  at::Tensor own, others;  ///< s = own - others
};
LabelOffset label_offset(const at::Tensor& u, const at::Tensor& v, const at::Tensor& labels);

/// The cross-entropy of `targets` with q, which is p + s where s sends no gradient to v, bounded and normalised: it is
/// what the network and u follow.
at::Tensor offset_cross_entropy(const at::Tensor& logits, const LabelOffset& s, const at::Tensor& targets);

/// |onehot(argmax p) + s - y|^2, which u and v follow.
at::Tensor offset_error(const at::Tensor& logits, const LabelOffset& s, const at::Tensor& labels);

}  // namespace regroup
