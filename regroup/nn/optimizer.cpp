#include "regroup/nn/optimizer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <utility>

namespace regroup {

Optimizer::Optimizer(Network& network, double momentum, std::vector<std::string> memory)
    : momentum(momentum), network_(network), memory_names_(std::move(memory)), steps_(at::zeros({0}, at::kLong)) {
  grow();
}

void Optimizer::grow() {
  const auto& parameters = network_.parameters();
  for (std::size_t i = memory_.size(); i < parameters.size(); ++i) {
    auto& memory = memory_.emplace_back();
    for (std::size_t m = 0; m < memory_names_.size(); ++m)
      memory.push_back(at::zeros_like(parameters[i].tensor.detach()));
  }
  const auto more = static_cast<std::int64_t>(parameters.size()) - steps_.numel();
  steps_ = at::cat({steps_, at::zeros({more}, at::kLong)});
}

void Optimizer::step(double rate, Network* ema, double lambda) {
  at::NoGradGuard no_grad;
  auto* const steps = steps_.data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    Parameter& parameter = network_.parameters()[i];
    at::Tensor& gradient = parameter.tensor.mutable_grad();
    const at::Tensor copy = ema != nullptr ? ema->parameters()[i].tensor : at::Tensor();
    if (gradient.defined() && parameter.rate > 0) {
      update({parameter.tensor, gradient, memory_[i], copy, rate * parameter.rate, parameter.decay ? decay_share : 0.0,
              lambda, ++steps[i]});
    } else if (copy.defined()) {
      copy.add_(parameter.tensor - copy, 1 - lambda);
    }
    gradient.reset();
  }
  if (ema == nullptr) return;
  for (std::size_t i = 0; i < network_.buffers().size(); ++i) {
    const at::Tensor &from = network_.buffers()[i].tensor, &to = ema->buffers()[i].tensor;
    if (to.is_floating_point()) {
      to.add_(from - to, 1 - lambda);
    } else {
      to.copy_(from);
    }
  }
}

void Optimizer::forget(std::string_view prefix) {
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    if (!network_.parameters()[i].name.starts_with(prefix)) continue;
    for (const at::Tensor& memory : memory_[i]) memory.zero_();
    steps_.data_ptr<std::int64_t>()[i] = 0;
  }
}

std::vector<NamedTensor> Optimizer::state() const {
  std::vector<NamedTensor> state;
  for (std::size_t m = 0; m < memory_names_.size(); ++m)
    for (std::size_t i = 0; i < memory_.size(); ++i)
      state.push_back({memory_names_[m] + "." + network_.parameters()[i].name, memory_[i][m]});
  state.push_back({"steps", steps_});
  return state;
}

bool same_layout(const at::Tensor& a, const at::Tensor& b) { return !b.defined() || a.strides() == b.strides(); }

}  // namespace regroup
