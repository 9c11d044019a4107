#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// Progressive early stopping (Bai et al., NeurIPS 2021), without its semi-supervised form.
MethodInfo pes_method();

}  // namespace regroup
