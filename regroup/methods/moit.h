#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// MOIT: multi-objective interpolation training (Ortego et al., CVPR 2021).
MethodInfo moit_method();

}  // namespace regroup
