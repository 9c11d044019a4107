#pragma once

#include "regroup/core/settings.h"

namespace regroup {

/// The learning rate when `share` (0 to 1) of the run is done, as the settings have it: a linear rise over the first
/// part of the run, then constant, linear or cosine down to min-lr, or divided by ten at given shares.
double learning_rate(const Settings& settings, double share);

}  // namespace regroup
