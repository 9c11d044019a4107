#pragma once

#include <memory>

#include "regroup/nn/network.h"

namespace regroup {

/// He et al. 2016. The stem for small images is one 3x3 convolution, as is usual on CIFAR; that of ImageNet a 7x7 one
/// with stride 2 and a max-pool.
std::unique_ptr<Network> make_resnet18(const NetworkShape& shape);
std::unique_ptr<Network> make_resnet34(const NetworkShape& shape);
std::unique_ptr<Network> make_resnet18_imagenet(const NetworkShape& shape);
std::unique_ptr<Network> make_resnet34_imagenet(const NetworkShape& shape);
std::unique_ptr<Network> make_resnet50(const NetworkShape& shape);

/// Normalisation and ReLU stand before each convolution of a block, as in the code of DivideMix, PES and the paper.
/// That differs from He et al. 2016b: the stem is normalised and activated, each shortcut, the identity too, takes what
/// is activated, and the last block is followed by no normalisation. Published accuracies are of this network.
std::unique_ptr<Network> make_preact_resnet18(const NetworkShape& shape);

}  // namespace regroup
