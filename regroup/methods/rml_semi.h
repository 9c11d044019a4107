#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// RML-Semi, the paper's Algorithm 2: Regroup Median Loss, then MixMatch on the samples whose labels two models agree
/// with (labelled) and all others (unlabelled).
MethodInfo rml_semi_method();

}  // namespace regroup
