#include "regroup/nn/adam.h"

#include <ATen/ATen.h>

#include <cmath>

namespace regroup {

Adam::Adam(Network& network, AdamOptions options)
    : Optimizer(network, options.beta1, {"mean", "square"}), options_(options) {}

void Adam::update(const Update& u) const {
  const auto steps = static_cast<double>(u.steps);
  const at::Tensor &mean = u.memory[0], &square = u.memory[1];
  const at::Tensor gradient = u.gradient + u.weight * (options_.weight_decay * u.decay_share);
  mean.mul_(momentum).add_(gradient, 1 - momentum);
  square.mul_(options_.beta2).addcmul_(gradient, gradient, 1 - options_.beta2);
  const double mean_part = 1 - std::pow(momentum, steps), square_part = 1 - std::pow(options_.beta2, steps);
  const at::Tensor deviation = (square / square_part).sqrt_().add_(options_.epsilon);
  u.weight.addcdiv_(mean, deviation, -u.rate / mean_part);
  if (u.ema.defined()) u.ema.add_(u.weight - u.ema, 1 - u.lambda);
}

}  // namespace regroup
