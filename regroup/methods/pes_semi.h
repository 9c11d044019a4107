#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// Progressive early stopping (Bai et al., NeurIPS 2021) with its semi-supervised phase.
MethodInfo pes_semi_method();

}  // namespace regroup
