#include "regroup/nn/sgd.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

namespace regroup {
namespace {

struct StepValues {
  float rate, momentum, decay;
  float catch_up;  ///< the part of its way to the weights that the ema goes
  bool nesterov;
};

void step_on_cpu(float* weight, const float* gradient, float* velocity, float* ema, std::int64_t count,
                 const StepValues& v) {
  at::parallel_for(0, count, 1 << 15, [&](std::int64_t begin, std::int64_t end) {
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) {
      const float g = gradient[i] + v.decay * weight[i];
      const float speed = v.momentum * velocity[i] + g;
      velocity[i] = speed;
      weight[i] -= v.rate * (v.nesterov ? g + v.momentum * speed : speed);
    }
    if (ema == nullptr) return;
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) ema[i] += v.catch_up * (weight[i] - ema[i]);
  });
}

void step_anywhere(const at::Tensor& weight, const at::Tensor& gradient, const at::Tensor& velocity,
                   const at::Tensor& ema, const StepValues& v) {
  const at::Tensor g = gradient + weight * v.decay;
  velocity.mul_(v.momentum).add_(g);
  weight.sub_(v.nesterov ? g + velocity * v.momentum : velocity, v.rate);
  if (ema.defined()) ema.add_(weight - ema, v.catch_up);
}

}  // namespace

Sgd::Sgd(Network& network, SgdOptions options)
    : Optimizer(network, options.momentum, {"velocity"}), options_(options) {}

void Sgd::update(const Update& u) const {
  const at::Tensor& velocity = u.memory.front();
  const StepValues values{static_cast<float>(u.rate), static_cast<float>(momentum),
                          static_cast<float>(options_.weight_decay * u.decay_share), static_cast<float>(1 - u.lambda),
                          options_.nesterov};
  if (u.weight.is_cpu() && u.weight.is_non_overlapping_and_dense() && same_layout(u.weight, u.gradient) &&
      same_layout(u.weight, velocity) && same_layout(u.weight, u.ema)) {
    step_on_cpu(u.weight.data_ptr<float>(), u.gradient.data_ptr<float>(), velocity.data_ptr<float>(),
                u.ema.defined() ? u.ema.data_ptr<float>() : nullptr, u.weight.numel(), values);
  } else {
    step_anywhere(u.weight, u.gradient, velocity, u.ema, values);
  }
}

}  // namespace regroup
