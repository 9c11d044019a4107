#pragma once

#include <span>
#include <vector>

#include "regroup/methods/method.h"

namespace regroup {

/// MentorNet PD: MentorNet with a predefined curriculum (Jiang et al., ICML 2018).
MethodInfo mentornet_method();

/// When the curriculum changes, in shares of the run.
struct CurriculumTimes {
  double all = 0.18;      ///< until then all samples count
  double graded = 0.9;    ///< from then on samples above the bound count the less, the larger their loss
  double dropped = 0.17;  ///< until then the larger share of a batch is left out at random
};

/// v of each sample when `share` of the run is done: 1; then whether the loss is at most `bound`; then 1 - (loss -
/// bound), from 0 to 1.
std::vector<float> curriculum_weights(std::span<const float> losses, double bound, double share,
                                      const CurriculumTimes& times = {});

}  // namespace regroup
