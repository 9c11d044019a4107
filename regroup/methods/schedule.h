#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "regroup/core/settings.h"

namespace regroup {

/// The learning rate when `share` (0 to 1) of the run is done, as configured: a linear rise over the first part of the
/// run, then constant, linear or cosine down to min-lr, or divided by ten at given shares.
double learning_rate(const Settings& settings, double share);

/// The epochs that a setting gives a phase; where it is 0, the share of the run that the phase has in its paper, and at
/// least one.
int phase_epochs(const Settings& settings, std::string_view name, double paper_length, double paper_epochs);

/// The same for a phase of a part of the run that has so many epochs.
int phase_epochs(const Settings& settings, std::string_view name, double paper_length, double paper_epochs, int epochs);

/// The shares of the run in a text such as `0.5, 0.75`: rising, between 0 and 1. Throws UserError that names `setting`.
std::vector<double> parse_shares(const std::string& text, const std::string& setting);

}  // namespace regroup
