#pragma once

#include <cstddef>
#include <functional>

#include "regroup/methods/method.h"
#include "regroup/train/progress.h"

namespace regroup {

struct StepDone {
  Step step;           ///< the one that was taken
  std::size_t passes;  ///< of this epoch
  double loss;         ///< of the batch
  std::size_t images;  ///< of the first plan's batch
  double waited;       ///< seconds, for the batch
};

/// The training loop: what is left of an epoch, from `place` on, which moves with it. `done` is called after every
/// step; where it says false, the loop ends there, and so does this function with false. `epochs` are those of the run.
bool train_epoch(Method& method, Context& context, Place& place, int epochs,
                 const std::function<bool(const StepDone&)>& done);

}  // namespace regroup
