#include "regroup/methods/kept_network.h"

#include <ATen/ATen.h>

#include <utility>

#include "regroup/nn/weights.h"

namespace regroup {
namespace {

at::Tensor column(const std::vector<std::int32_t>& labels) { return at::tensor(labels, at::kInt).to(at::kLong); }

}  // namespace

KeptNetwork::KeptNetwork(std::unique_ptr<Network> network, std::string name)
    : name_(std::move(name)), network_(std::move(network)) {}

void KeptNetwork::keep(const Network& now) { copy_tensors(now, *network_); }

void KeptNetwork::offer(const Network& now, std::optional<double> score) {
  if (score && *score <= score_) return;
  score_ = score.value_or(none);
  keep(now);
}

void KeptNetwork::collect(State& state) {
  state.add(name_ + ".", tensors_of(*network_));
  state.add(name_ + "-score", score_, {-1e30, 1e30});
}

std::optional<double> share_right(const at::Tensor& log_probabilities, const std::vector<std::int32_t>& labels) {
  if (labels.empty()) return std::nullopt;
  return log_probabilities.argmax(1).eq(column(labels)).to(at::kDouble).mean().item<double>();
}

std::optional<double> minus_mean_loss(const at::Tensor& log_probabilities, const std::vector<std::int32_t>& labels) {
  if (labels.empty()) return std::nullopt;
  return log_probabilities.gather(1, column(labels).unsqueeze(1)).to(at::kDouble).mean().item<double>();
}

}  // namespace regroup
