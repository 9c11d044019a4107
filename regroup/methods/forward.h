#pragma once

#include <ATen/core/Tensor.h>

#include "regroup/methods/method.h"

namespace regroup {

/// Forward (Patrini et al., CVPR 2017).
MethodInfo forward_method();

/// T, from probabilities with a row per sample: row i is the prediction for the anchor point of class i, the sample
/// that is most probably of it (Eq. 12 and 13). Under a `quantile` below 1 that is the most probable one below that
/// quantile of the probabilities of i, since the highest may be outliers.
at::Tensor transition_of_anchors(const at::Tensor& probabilities, double quantile);

/// The share of the quantile as the settings have it: as published, where they leave it open.
double anchor_quantile(const Context& context);

/// `anchor-quantile`, for methods that estimate T so.
SettingInfo anchor_setting();

/// log(T^t p) of each row, from log-probabilities: what observed labels are predicted to be. Rows of samples whose
/// labels somebody has verified stay as they are.
at::Tensor observed_log_probabilities(const at::Tensor& log_p, const at::Tensor& transition,
                                      const at::Tensor& trusted = {});

/// The mean of T's diagonal, as a figure of an epoch.
Metric diagonal_metric(const at::Tensor& transition);

}  // namespace regroup
