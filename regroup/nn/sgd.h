#pragma once

#include "regroup/nn/optimizer.h"

namespace regroup {

struct SgdOptions {
  double momentum = 0.9;
  bool nesterov = false;
  double weight_decay = 5e-4;
};

/// Stochastic gradient descent with momentum, as the engine's own computes it, in one pass over memory, and in the same
/// pass the ema follows: velocity = momentum * velocity + gradient + decay * weight; weight -= rate * velocity.
class Sgd : public Optimizer {
 public:
  Sgd(Network& network, SgdOptions options);

 protected:
  void update(const Update& update) const override;

 private:
  SgdOptions options_;
};

}  // namespace regroup
