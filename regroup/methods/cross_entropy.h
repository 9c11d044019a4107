#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// Plain training: the labels are taken as they are.
MethodInfo cross_entropy_method();

}  // namespace regroup
