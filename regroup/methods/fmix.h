#pragma once

#include <ATen/core/Tensor.h>

#include "regroup/core/random.h"

namespace regroup {

/// FMix (Harris et al. 2020): a mask of 1 and 0, height by width, with a share lambda of ones, where a random picture
/// is brightest in which waves of frequency f have a strength of 1 / f^decay.
at::Tensor low_frequency_mask(Stream& random, int height, int width, double decay, double lambda);

}  // namespace regroup
