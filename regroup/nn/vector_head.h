#pragma once

#include <memory>

#include "regroup/nn/network.h"

namespace regroup {

/// Networks on vectors that another network has made: the classifier alone, and one hidden layer with ReLU before it.
/// Their features are what the classifier sees.
std::unique_ptr<Network> make_linear(const NetworkShape& shape);
std::unique_ptr<Network> make_mlp(const NetworkShape& shape);

}  // namespace regroup
