#pragma once

#include <span>
#include <vector>

#include "regroup/methods/method.h"
#include "regroup/stats/mixture.h"
#include "regroup/stats/unit_range.h"

namespace regroup {

/// M-correction (Arazo et al., ICML 2019), in its form M-DYR-H.
MethodInfo m_correction_method();

/// How a loss becomes the probability that its label is wrong: where it lies between the 5 and the 95 % quantile of all
/// losses, and there the posterior of the upper component of two beta distributions, in a table of 100. Past its
/// highest value the table stays at it, where the posterior of a mixture may fall again.
struct WrongLabelTable {
  UnitRange range;
  std::vector<float> posterior = std::vector<float>(100);

  double at(double loss) const;
};

WrongLabelTable fit_wrong_label_table(std::span<const float> losses);

}  // namespace regroup
