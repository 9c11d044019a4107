#pragma once

#include <cmath>
#include <vector>

#include "regroup/methods/context.h"

namespace regroup {

/// The share of wrong labels as the losses of the epochs so far show it: their median, since a network that has
/// memorised wrong labels gives them small losses.
class RunningNoiseRate {
 public:
  /// The rate to use in an epoch, from the losses of the epochs before; 0 as long as these do not tell it.
  double before(const Context& context, int epoch);

  void collect(State& state);

 private:
  std::vector<float> seen_ = std::vector<float>(15, std::nanf(""));  ///< the latest first
};

}  // namespace regroup
