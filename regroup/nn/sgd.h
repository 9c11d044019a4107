#pragma once

#include <vector>

#include "regroup/nn/network.h"

namespace regroup {

struct SgdOptions {
  double momentum = 0.9;
  bool nesterov = false;
  double weight_decay = 5e-4;
};

/// Stochastic gradient descent with momentum, as the engine's own computes it, in one pass over memory, and in the same
/// pass the momentum model follows.
class Sgd {
 public:
  Sgd(Network& network, SgdOptions options);

  /// One step with the gradients of the parameters (none: no step for that one), which are dropped. With `follower`,
  /// its parameters become follow * theirs + (1 - follow) * ours, and its statistics likewise.
  void step(double rate, Network* follower = nullptr, double follow = 0);

  /// The velocities, named as the parameters: all that a step remembers.
  std::vector<NamedTensor> state() const;

 private:
  Network& network_;
  SgdOptions options_;
  std::vector<at::Tensor> velocity_;
};

}  // namespace regroup
