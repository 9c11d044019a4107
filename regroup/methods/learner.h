#pragma once

#include <memory>
#include <string>

#include "regroup/methods/state.h"
#include "regroup/nn/network.h"
#include "regroup/nn/precision.h"
#include "regroup/nn/sgd.h"

namespace regroup {

struct LearnerOptions {
  SgdOptions sgd;
  double momentum_model = 0.999;  ///< lambda of the momentum model; 0: there is none
  at::Device device = at::kCPU;
  Precision precision = Precision::fp32;
};

/// A network that learns: its optimizer, and its momentum model that follows it (step 7 of RML).
class Learner {
 public:
  /// `follower` is a network of the same kind for the momentum model; it may be null where there is none.
  Learner(std::string name, std::unique_ptr<Network> model, std::unique_ptr<Network> follower, LearnerOptions options);

  /// Scores images as the network trains: with batch statistics, in the run's precision, keeping what gradients need.
  Scores forward(const at::Tensor& images);

  /// One step down the gradient of `loss`. The momentum model follows: theta' <- lambda theta' + (1 - lambda) theta
  /// with lambda = min(momentum_model, (1 + t) / (10 + t)) at step t, so that short runs have one too. A loss that is
  /// not finite is a UserError, and changes nothing.
  void step(const at::Tensor& loss);

  /// The learning rate of the next step; the trainer sets it.
  double rate = 0;

  const std::string& name() const { return name_; }
  Network& model() { return *model_; }
  Network* momentum_model() { return follower_.get(); }

  /// What a step remembers beside the networks, which are saved as files of their own.
  void collect(State& state);

 private:
  std::string name_;
  std::unique_ptr<Network> model_, follower_;
  LearnerOptions options_;
  Sgd sgd_;
  std::int64_t steps_ = 0;
};

}  // namespace regroup
