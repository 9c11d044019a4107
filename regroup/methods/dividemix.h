#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// DivideMix (Li, Socher and Hoi, ICLR 2020).
MethodInfo dividemix_method();

/// The probability that each label is right, by its loss: of the lower of two Gaussians that are fitted to the losses,
/// scaled to 0 .. 1.
std::vector<float> clean_probabilities(std::span<const float> losses);

}  // namespace regroup
