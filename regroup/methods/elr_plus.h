#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// ELR+: early-learning regularisation with two networks and mixed images (Liu et al., NeurIPS 2020).
MethodInfo elr_plus_method();

/// exp(-5 (1 - x)^2), with x rising from 0 to 1 over `length` epochs; 1 from the beginning where that is 0.
double slow_ramp(double time, double length);

}  // namespace regroup
