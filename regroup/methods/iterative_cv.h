#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// INCV, iterative noisy cross-validation (Chen et al., ICML 2019).
MethodInfo iterative_cv_method();

/// The share e of wrong labels where a share `agreement` of the labels that a network was not trained on is what it
/// predicts, the network having learnt labels with the same noise (Eq. 4): (1 - e)^2 + e^2 / others = agreement. Wrong
/// labels are spread over `others` classes: all but one for symmetric noise, 1 for asymmetric noise.
double rate_of_agreement(double agreement, double others);

/// The share of wrong labels among those that such a network predicts: e^2 / (e^2 + others (1 - e)^2).
double rate_among_selected(double rate, double others);

/// How many samples are removed for each that is selected: the noise odds, at most 2; none where noise is asymmetric.
double removal_ratio(double rate, bool asymmetric);

}  // namespace regroup
