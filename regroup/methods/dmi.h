#pragma once

#include <ATen/core/Tensor.h>

#include "regroup/methods/method.h"

namespace regroup {

/// DMI (Xu et al., NeurIPS 2019).
MethodInfo dmi_method();

/// U = Y^t P / n: the joint distribution of observed labels (rows) and predictions (columns) in a batch.
at::Tensor joint_distribution(const at::Tensor& probabilities, const at::Tensor& labels);

/// L_DMI = -log|det U|; not defined where U is singular.
at::Tensor determinant_loss(const at::Tensor& joint);

}  // namespace regroup
