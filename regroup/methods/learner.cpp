#include "regroup/methods/learner.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "regroup/core/error.h"

namespace regroup {
namespace {

std::unique_ptr<Network> moved(std::unique_ptr<Network> network, at::Device device) {
  if (network) network->move_to(device);
  return network;
}

}  // namespace

Learner::Learner(std::string name, std::unique_ptr<Network> model, std::unique_ptr<Network> follower,
                 LearnerOptions options)
    : name_(std::move(name)),
      model_(moved(std::move(model), options.device)),
      follower_(options.momentum_model > 0 ? moved(std::move(follower), options.device) : nullptr),
      options_(options),
      sgd_(*model_, options.sgd) {
  if (!follower_) return;
  copy_tensors(*model_, *follower_);
  follower_->training = false;
  for (const Parameter& parameter : follower_->parameters()) parameter.tensor.requires_grad_(false);
}

Scores Learner::forward(const at::Tensor& images) {
  model_->training = true;
  PrecisionScope scope(options_.precision, options_.device);
  return model_->forward(images);
}

void Learner::step(const at::Tensor& loss) {
  if (const auto value = loss.item<double>(); !std::isfinite(value))
    throw UserError(fmt::format("the loss is {}; try a lower learning rate", value));
  loss.backward();
  const auto t = static_cast<double>(steps_++);
  sgd_.step(rate, follower_.get(), std::min(options_.momentum_model, (1 + t) / (10 + t)));
}

void Learner::collect(State& state) {
  state.add(name_ + ".velocity.", sgd_.state());
  state.add(name_ + ".steps", steps_, {0, 1e15});
  state.add(name_ + ".rate", rate, {.low = 0});
}

}  // namespace regroup
