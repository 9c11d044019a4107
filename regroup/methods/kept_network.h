#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "regroup/methods/state.h"
#include "regroup/nn/network.h"

namespace regroup {

/// A network that stays as another one was at some time: in its best epoch, say. It is state.
class KeptNetwork {
 public:
  /// `network` is what it begins with; nothing in it is learnt.
  KeptNetwork(std::unique_ptr<Network> network, std::string name);

  Network& network() { return *network_; }

  /// Becomes a copy of `now`, whatever was kept.
  void keep(const Network& now);

  /// Becomes a copy of `now` where that has the highest score so far; without a score, the last one counts.
  void offer(const Network& now, std::optional<double> score);

  /// What is offered next is kept.
  void forget_score() { score_ = none; }

  void collect(State& state);

 private:
  static constexpr double none = -1e30;

  std::string name_;
  std::unique_ptr<Network> network_;
  double score_ = none;
};

/// How well log-probabilities fit labels; nothing where there are none.
std::optional<double> share_right(const at::Tensor& log_probabilities, const std::vector<std::int32_t>& labels);
std::optional<double> minus_mean_loss(const at::Tensor& log_probabilities, const std::vector<std::int32_t>& labels);

}  // namespace regroup
