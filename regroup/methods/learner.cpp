#include "regroup/methods/learner.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "regroup/core/error.h"
#include "regroup/nn/second_derivatives.h"
#include "regroup/nn/weights.h"

namespace regroup {
namespace {

std::unique_ptr<Network> moved(std::unique_ptr<Network> network, at::Device device) {
  network->move_to(device);
  return network;
}

template <class Tensors>
void copy_by_prefix(const Tensors& from, const Tensors& to, std::string_view prefix) {
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i].name.starts_with(prefix)) to[i].tensor.copy_(from[i].tensor);
}

}  // namespace

Learner::Learner(std::string name, MakeNetwork make, const MakeOptimizer& optimizer, LearnerOptions options)
    : name_(std::move(name)),
      make_(std::move(make)),
      options_(options),
      model_(moved(make_(0), options.device)),
      frozen_(model_->parameters().size(), 0),
      loaded_(frozen_) {
  for (const Parameter& parameter : model_->parameters()) rates_.push_back(parameter.rate);
  add_optimizer("main", optimizer);
  if (options.ema == 0) return;
  ema_ = moved(make_(0), options.device);
  ema_->training = false;
  for (const Parameter& parameter : ema_->parameters()) parameter.tensor.requires_grad_(false);
}

Scores Learner::forward(const at::Tensor& images) {
  model_->training = !(body_loaded_ && (held_ || options_.keep_statistics));
  PrecisionScope scope(SecondDerivatives::are_wanted() ? Precision::fp32 : options_.precision, options_.device);
  return model_->forward(images);
}

Scores Learner::forward_in_evaluation(const at::Tensor& images) {
  const at::NoGradGuard no_grad;
  model_->training = false;
  const PrecisionScope scope(options_.precision, options_.device);
  return model_->forward(images);
}

Scores Learner::forward_ema(const at::Tensor& images) {
  if (!ema_) return forward_in_evaluation(images);
  const at::NoGradGuard no_grad;
  const PrecisionScope scope(options_.precision, options_.device);
  return ema_->forward(images);
}

double Learner::add_gradient(const at::Tensor& loss, bool keep_graph) {
  const auto value = loss.item<double>();
  if (!std::isfinite(value)) throw UserError(fmt::format("the loss is {}; try a lower learning rate", value));
  loss.backward({}, keep_graph);
  return value;
}

double Learner::warming_decay(double most) const {
  const auto t = static_cast<double>(steps_);
  return std::min(most, (1 + t) / (10 + t));
}

double Learner::step(const at::Tensor& loss) {
  const double value = add_gradient(loss);
  if (largest_gradient > 0) shorten_gradient();
  optimizer().step(rate, ema_.get(), ema_decay.value_or(warming_decay(options_.ema)));
  ++steps_;
  return value;
}

void Learner::restart(std::string_view prefix) {
  const at::NoGradGuard no_grad;
  const auto fresh = moved(make_(static_cast<std::uint32_t>(++restarts_)), options_.device);
  if (start_) {
    for (std::size_t i = 0; i < fresh->parameters().size(); ++i)
      if (!fresh->is_of_classifier(fresh->parameters()[i].name))
        fresh->parameters()[i].tensor.copy_(start_->parameters()[i].tensor);
    copy_by_prefix(start_->buffers(), fresh->buffers(), "");
  }
  for (Network* network : {model_.get(), ema_.get()}) {
    if (network == nullptr) continue;
    copy_by_prefix(fresh->parameters(), network->parameters(), prefix);
    copy_by_prefix(fresh->buffers(), network->buffers(), prefix);
  }
  for (const auto& [name, optimizer] : optimizers_) optimizer->forget(prefix);
  for (std::size_t i = 0; i < loaded_.size(); ++i)
    if (!start_ && model_->parameters()[i].name.starts_with(prefix)) loaded_[i] = 0;
  set_what_learns();
}

void Learner::keep_start() {
  start_ = moved(make_(0), options_.device);
  for (const Parameter& parameter : start_->parameters()) parameter.tensor.requires_grad_(false);
}

void Learner::become(const Network& other) {
  copy_tensors(other, *model_);
  if (ema_) copy_tensors(other, *ema_);
  for (const auto& [name, optimizer] : optimizers_) optimizer->forget("");
}

void Learner::restart_ema() {
  if (ema_) copy_tensors(*model_, *ema_);
  steps_ = 0;
}

void Learner::set_loaded(const std::set<std::string>& names) {
  for (std::size_t i = 0; i < loaded_.size(); ++i) {
    const std::string& name = model_->parameters()[i].name;
    loaded_[i] = names.contains(name) && !model_->is_of_classifier(name) ? 1 : 0;
  }
  if (start_) copy_tensors(*model_, *start_);
  if (ema_) copy_tensors(*model_, *ema_);
  set_what_learns();
}

void Learner::hold_loaded(bool held) {
  held_ = held;
  set_what_learns();
}

void Learner::freeze(std::string_view prefix, bool frozen) {
  for (std::size_t i = 0; i < frozen_.size(); ++i)
    if (model_->parameters()[i].name.starts_with(prefix)) frozen_[i] = frozen ? 1 : 0;
  set_what_learns();
}

at::Tensor Learner::add(const std::string& name, const at::Tensor& start) {
  const auto added_to = [&](Network& network, bool learnt) {
    at::Tensor tensor = start.detach().to(options_.device).clone();
    tensor.requires_grad_(learnt);
    network.parameters().push_back({{name, tensor}});
    return tensor;
  };
  if (ema_) added_to(*ema_, false);
  frozen_.push_back(0);
  loaded_.push_back(0);
  at::Tensor tensor = added_to(*model_, true);
  for (const auto& [role, optimizer] : optimizers_) optimizer->grow();
  return tensor;
}

void Learner::add_optimizer(const std::string& name, const MakeOptimizer& make) {
  optimizers_.emplace_back(name, make(*model_));
}

void Learner::use(std::string_view optimizer) {
  const auto found =
      std::find_if(optimizers_.begin(), optimizers_.end(), [&](const auto& o) { return o.first == optimizer; });
  if (found == optimizers_.end()) throw std::logic_error(fmt::format("{} has no optimizer '{}'", name_, optimizer));
  current_ = found - optimizers_.begin();
}

void Learner::collect(State& state) {
  for (const auto& [name, optimizer] : optimizers_) state.add(fmt::format("{}.{}.", name_, name), optimizer->state());
  if (start_) state.add(name_ + ".start.", tensors_of(*start_));
  state.add(name_ + ".steps", steps_, {0, 1e15});
  state.add(name_ + ".restarts", restarts_, {0, 1e6});
  state.add(name_ + ".optimizer", current_, {0, static_cast<double>(optimizers_.size() - 1)});
  state.add(name_ + ".frozen", frozen_, {0, 1});
  state.add(name_ + ".loaded", loaded_, {0, 1});
  state.add(name_ + ".rate", rate, {.low = 0});
}

void Learner::restored() { set_what_learns(); }

void Learner::shorten_gradient() {
  double squares = 0;
  for (const Parameter& parameter : model_->parameters())
    if (parameter.tensor.grad().defined()) squares += parameter.tensor.grad().square().sum().item<double>();
  const double length = std::sqrt(squares);
  if (length <= largest_gradient) return;
  for (const Parameter& parameter : model_->parameters())
    if (parameter.tensor.grad().defined()) parameter.tensor.grad().mul_(largest_gradient / length);
}

void Learner::set_what_learns() {
  body_loaded_ = true;
  for (std::size_t i = 0; i < frozen_.size(); ++i) {
    Parameter& parameter = model_->parameters()[i];
    const bool loaded = loaded_[i] == 1;
    // What stays needs no gradient, nor does what comes before it.
    parameter.tensor.requires_grad_(frozen_[i] == 0 && !(held_ && loaded));
    if (i >= rates_.size()) continue;  // it was added beside the network
    parameter.rate = rates_[i] * (loaded ? options_.loaded_rate : 1);
    if (!loaded && !model_->is_of_classifier(parameter.name)) body_loaded_ = false;
  }
}

}  // namespace regroup
