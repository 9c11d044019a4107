#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "regroup/nn/network.h"

namespace regroup {

/// How the weights of a network follow their gradients. What it remembers of each parameter is state.
class Optimizer {
 public:
  /// `memory` names what is remembered of every number of a parameter, such as its velocity.
  Optimizer(Network& network, double momentum, std::vector<std::string> memory);
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  /// One step of every parameter that has a gradient, which is dropped. With `ema`, its parameters and statistics
  /// become lambda * theirs + (1 - lambda) * ours.
  void step(double rate, Network* ema = nullptr, double lambda = 0);

  /// Makes room for parameters that the network got since.
  void grow();

  /// Forgets what it remembers of the parameters whose names begin with `prefix`.
  void forget(std::string_view prefix);

  /// All that a step remembers, as MEMORY.PARAMETER and `steps`.
  std::vector<NamedTensor> state() const;

  /// The share of the last steps' direction that a step keeps: SGD's momentum, Adam's beta 1.
  double momentum;

  double decay_share = 1;  ///< of the weight decay, in the steps that follow; not remembered

 protected:
  struct Update {
    at::Tensor weight, gradient;
    std::span<const at::Tensor> memory;
    at::Tensor ema;  ///< not defined where nothing follows
    double rate, decay_share, lambda;
    std::int64_t steps;  ///< of this parameter, with this one
  };

  /// Changes the weight, and `ema` where it is defined.
  virtual void update(const Update& update) const = 0;

 private:
  Network& network_;
  std::vector<std::string> memory_names_;
  std::vector<std::vector<at::Tensor>> memory_;  ///< of each parameter
  at::Tensor steps_;                             ///< of each parameter, since it was last forgotten
};

/// Whether two tensors have their numbers in the same order in memory; also where there is no second one.
bool same_layout(const at::Tensor& a, const at::Tensor& b);

}  // namespace regroup
