#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// mixup (Zhang et al., ICLR 2018): a baseline of the paper's semi-supervised tables.
MethodInfo mixup_method();

}  // namespace regroup
