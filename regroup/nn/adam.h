#pragma once

#include "regroup/nn/optimizer.h"

namespace regroup {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  ///< added to the gradient
};

/// Adam (Kingma and Ba, ICLR 2015), as the engine's own computes it.
class Adam : public Optimizer {
 public:
  Adam(Network& network, AdamOptions options);

 protected:
  void update(const Update& update) const override;

 private:
  AdamOptions options_;
};

}  // namespace regroup
