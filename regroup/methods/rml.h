#pragma once

#include "regroup/methods/method.h"
#include "regroup/rml/regroup_median.h"

namespace regroup {

/// Regroup Median Loss (Li et al., AAAI 2024), without its semi-supervised second half.
MethodInfo rml_method();

/// How the settings `n`, `k`, `select`, `eps` and the ablations choose the estimator; `kept` is TrainingSet::kept.
RegroupOptions regroup_options(const Settings& settings, double kept);

}  // namespace regroup
