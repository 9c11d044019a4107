#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// Progressive early stopping (Bai et al., NeurIPS 2021), without its semi-supervised form.
MethodInfo pes_method();

/// The parts of a network from its input to its output, by the first part of their parameters' names, a normalisation
/// with the convolution before it: conv1 and bn1, layer1, ..., fc.
std::vector<std::vector<std::string>> parts_of(const Network& network);

}  // namespace regroup
