#include "regroup/methods/heads.h"

#include <ATen/ATen.h>

#include <cmath>
#include <stdexcept>

#include "regroup/core/random.h"

namespace regroup {
namespace {

/// The layers of a network count from 0, those beside it from here.
constexpr std::uint32_t first_number = 1U << 16;

at::Tensor uniform(at::IntArrayRef sizes, double bound, Stream& random) {
  const at::Tensor values = at::empty(sizes, at::kFloat);
  float* const out = values.data_ptr<float>();
  for (std::int64_t i = 0; i < values.numel(); ++i) out[i] = static_cast<float>((2 * random.uniform() - 1) * bound);
  return values;
}

}  // namespace

Head::Head(const Context& context, Learner& learner, const std::string& name, std::int64_t in, std::int64_t out,
           std::uint32_t number, std::uint32_t member) {
  Stream random(context.seed(), Purpose::weights, member, first_number + number);
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  const auto add = [&](const std::string& tensor, const at::Tensor& start, at::Tensor& ema) {
    at::Tensor added = learner.add(name + "." + tensor, start);
    if (learner.ema() != nullptr) ema = learner.ema()->parameters().back().tensor;
    return added;
  };
  weight_ = add("weight", uniform({out, in}, bound, random), ema_weight_);
  bias_ = add("bias", uniform({out}, bound, random), ema_bias_);
}

at::Tensor Head::operator()(const at::Tensor& x) const { return at::linear(x.to(at::kFloat), weight_, bias_); }

at::Tensor Head::of_ema(const at::Tensor& x) const { return at::linear(x.to(at::kFloat), ema_weight_, ema_bias_); }

TwoLayerHead::TwoLayerHead(const Context& context, Learner& learner, const std::string& name, std::int64_t in,
                           std::int64_t hidden, std::int64_t out, std::uint32_t number)
    : first_(context, learner, name + ".0", in, hidden, number),
      second_(context, learner, name + ".2", hidden, out, number + 1),
      scale_(learner.add(name + ".1.weight", at::ones({hidden}))),
      shift_(learner.add(name + ".1.bias", at::zeros({hidden}))) {}

at::Tensor TwoLayerHead::operator()(const at::Tensor& x) const {
  constexpr double epsilon = 1e-5;
  const at::Tensor hidden =
      at::batch_norm(first_(x), scale_, shift_, {}, {}, /*training=*/true, /*momentum=*/0, epsilon, false);
  return second_(at::relu(hidden));
}

std::int64_t feature_size(const Network& network) {
  for (const Parameter& parameter : network.parameters())
    if (network.is_of_classifier(parameter.name) && parameter.tensor.dim() == 2) return parameter.tensor.size(1);
  throw std::logic_error("the network has no classifier");
}

double classifier_scale(Learner& learner, const SampleShape& shape) {
  at::Tensor weight, bias;
  for (const Parameter& parameter : learner.model().parameters()) {
    if (!learner.model().is_of_classifier(parameter.name)) continue;
    (parameter.tensor.dim() == 2 ? weight : bias) = parameter.tensor.detach();
  }
  const at::Tensor image =
      at::ones({1, shape.channels, shape.height, shape.width}, weight.options().requires_grad(false));
  const Scores scores = learner.forward_in_evaluation(image);
  const at::Tensor unscaled = at::linear(scores.features.to(at::kFloat), weight, bias);
  const double squares = unscaled.square().sum().item<double>();
  return squares > 0 ? (unscaled * scores.logits.to(at::kFloat)).sum().item<double>() / squares : 1;
}

at::Tensor unit_rows(const at::Tensor& x) {
  constexpr double least = 1e-12;
  return x / x.norm(2, {1}, /*keepdim=*/true).clamp_min(least);
}

}  // namespace regroup
