#include "regroup/nn/sgd.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

namespace regroup {
namespace {

struct StepValues {
  float rate, momentum, decay;
  float catch_up;  ///< the part of its way to the weights that the follower goes
  bool nesterov;
};

/// velocity = momentum * velocity + gradient + decay * weight; weight -= rate * velocity.
void step_on_cpu(float* weight, const float* gradient, float* velocity, float* follower, std::int64_t count,
                 const StepValues& v) {
  at::parallel_for(0, count, 1 << 15, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const float g = gradient[i] + v.decay * weight[i];
      const float speed = v.momentum * velocity[i] + g;
      velocity[i] = speed;
      weight[i] -= v.rate * (v.nesterov ? g + v.momentum * speed : speed);
    }
    if (follower == nullptr) return;
    for (std::int64_t i = begin; i < end; ++i) follower[i] += v.catch_up * (weight[i] - follower[i]);
  });
}

void step_anywhere(const at::Tensor& weight, const at::Tensor& gradient, const at::Tensor& velocity,
                   const at::Tensor& follower, const StepValues& v) {
  const at::Tensor g = gradient + weight * v.decay;
  velocity.mul_(v.momentum).add_(g);
  weight.sub_(v.nesterov ? g + velocity * v.momentum : velocity, v.rate);
  if (follower.defined()) follower.add_(weight - follower, v.catch_up);
}

bool same_layout(const at::Tensor& a, const at::Tensor& b) { return !b.defined() || a.strides() == b.strides(); }

}  // namespace

Sgd::Sgd(Network& network, SgdOptions options) : network_(network), options_(options) {
  for (const Parameter& parameter : network.parameters())
    velocity_.push_back(at::zeros_like(parameter.tensor.detach()));
}

void Sgd::step(double rate, Network* follower, double follow) {
  at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < velocity_.size(); ++i) {
    Parameter& parameter = network_.parameters()[i];
    at::Tensor& weight = parameter.tensor;
    at::Tensor& gradient = weight.mutable_grad();
    const at::Tensor copy = follower != nullptr ? follower->parameters()[i].tensor : at::Tensor();
    if (gradient.defined() && parameter.rate > 0) {
      const StepValues values{static_cast<float>(rate * parameter.rate), static_cast<float>(options_.momentum),
                              static_cast<float>(parameter.decay ? options_.weight_decay : 0),
                              static_cast<float>(1 - follow), options_.nesterov};
      if (weight.is_cpu() && weight.is_non_overlapping_and_dense() && same_layout(weight, gradient) &&
          same_layout(weight, velocity_[i]) && same_layout(weight, copy)) {
        step_on_cpu(weight.data_ptr<float>(), gradient.data_ptr<float>(), velocity_[i].data_ptr<float>(),
                    copy.defined() ? copy.data_ptr<float>() : nullptr, weight.numel(), values);
      } else {
        step_anywhere(weight, gradient, velocity_[i], copy, values);
      }
    } else if (copy.defined()) {
      copy.add_(weight - copy, 1 - follow);
    }
    gradient.reset();
  }
  if (follower == nullptr) return;
  for (std::size_t i = 0; i < network_.buffers().size(); ++i) {
    const at::Tensor &from = network_.buffers()[i].tensor, &to = follower->buffers()[i].tensor;
    if (to.is_floating_point()) {
      to.add_(from - to, 1 - follow);
    } else {
      to.copy_(from);
    }
  }
}

std::vector<NamedTensor> Sgd::state() const {
  std::vector<NamedTensor> state;
  for (std::size_t i = 0; i < velocity_.size(); ++i) state.push_back({network_.parameters()[i].name, velocity_[i]});
  return state;
}

}  // namespace regroup
