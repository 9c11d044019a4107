#pragma once

#include <memory>

#include "regroup/nn/network.h"

namespace regroup {

/// A small network for a CPU, after the fastest public trainings on CIFAR-10: a fixed convolution that whitens the 2x2
/// patches of the images, then three blocks of convolution, max-pool, normalisation, convolution, normalisation.
std::unique_ptr<Network> make_fast_net(const NetworkShape& shape);

}  // namespace regroup
