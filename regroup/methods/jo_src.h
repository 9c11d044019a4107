#pragma once

#include <ATen/core/Tensor.h>

#include "regroup/methods/method.h"

namespace regroup {

/// Jo-SRC (Yao et al., CVPR 2021).
MethodInfo jo_src_method();

/// The Jensen-Shannon divergence of two distributions, row by row, in bits: 0 to 1. Rows are log-probabilities.
at::Tensor jensen_shannon(const at::Tensor& log_p, const at::Tensor& log_q);

/// KL(p || q) + KL(q || p) of each row, in bits. Rows are log-probabilities.
at::Tensor symmetric_divergence(const at::Tensor& log_p, const at::Tensor& log_q);

/// tau: it rises from 0 to `warm` over the first epochs, then to `last` over the others.
double clean_threshold(int epoch, int epochs, int warmup, double warm, double last);

}  // namespace regroup
