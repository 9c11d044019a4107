#pragma once

#include <memory>

#include "regroup/nn/network.h"

namespace regroup {

/// EfficientNet-Lite0 (Tan and Le 2019; Liu 2020), made for processors: depthwise convolutions, ReLU6, no squeezing and
/// exciting. Its tensors have timm's names, and it pads as TensorFlow does, in which the published weights were
/// trained: timm calls that network tf_efficientnet_lite0. The width scales the blocks; stem and head have one size.
std::unique_ptr<Network> make_efficientnet_lite0(const NetworkShape& shape);

}  // namespace regroup
