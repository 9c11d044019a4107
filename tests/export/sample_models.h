#pragma once

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "nn/nn_testing.h"
#include "regroup/nn/graph.h"
#include "regroup/nn/weights.h"
#include "regroup/train/trained_predictor.h"

namespace regroup {

/// A predictor with weights as after a training, samples as they come from outside, and what it makes of them.
struct SampleModel {
  std::string name;
  TrainedPredictor trained;
  at::Tensor input;   ///< pixels of 0 to 255, or vectors
  at::Tensor logits;  ///< by its own forward pass
};

/// Batch statistics, scales and shifts that are not those of the beginning, so that leaving one out is seen.
inline void unsettle(const Network& network, std::uint32_t seed) {
  const at::NoGradGuard no_grad;
  for (const NamedTensor& tensor : tensors_of(network)) {
    if (!tensor.tensor.is_floating_point() || tensor.tensor.dim() != 1) continue;
    const at::Tensor noise = normal_tensor(tensor.tensor.sizes(), ++seed);
    if (tensor.name.ends_with("running_var") || tensor.name.ends_with("weight")) {
      tensor.tensor.copy_(1 + 0.3 * noise.tanh());
    } else {
      tensor.tensor.copy_(0.2 * noise);
    }
  }
}

/// The logits by the definition of a predictor.
inline at::Tensor defined_logits(const TrainedPredictor& trained, const at::Tensor& input) {
  const at::NoGradGuard no_grad;
  const NetworkCard& card = trained.card;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(input.dim()), 1);
  sizes[1] = card.channels;
  const auto per_channel = [&](const std::vector<float>& values) { return at::tensor(values).view(sizes); };
  at::Tensor x = (input / (card.is_vector() ? 1 : 255) - per_channel(card.mean)) / per_channel(card.deviation);
  x = card.is_vector() ? x.view({-1, card.channels, 1, 1}) : x.contiguous(at::MemoryFormat::ChannelsLast);
  std::vector<at::Tensor> logits;
  for (const auto& network : trained.networks) {
    at::Tensor each = network->forward(x).logits;
    if (card.test_flip)
      each = (each + network->forward(x.flip({3}).contiguous(at::MemoryFormat::ChannelsLast)).logits) / 2;
    logits.push_back(each);
  }
  if (logits.size() == 1 || trained.mean == PredictorMean::logits) return at::stack(logits).mean(0);
  return at::softmax(at::stack(logits), 2).mean(0).log();
}

inline SampleModel sample_model(const std::string& name, const std::string& model, SampleExtent shape, int width,
                                bool flip, int networks = 1, PredictorMean mean = PredictorMean::logits) {
  constexpr int classes = 7, samples = 3;
  SampleModel sample{name, {}, {}, {}};
  NetworkCard& card = sample.trained.card;
  card.model = model;
  card.base_width = width;
  card.channels = static_cast<int>(shape.channels);
  card.height = static_cast<int>(shape.height);
  card.width = static_cast<int>(shape.width);
  for (int y = 0; y < classes; ++y) card.class_names.push_back(fmt::format("class {}", y));
  card.class_names[2] = "caf\xe9 \"quoted\"";  // not UTF-8
  for (int c = 0; c < card.channels; ++c) {
    card.mean.push_back(0.4F + 0.03F * static_cast<float>(c % 5));
    card.deviation.push_back(0.2F + 0.02F * static_cast<float>(c % 3));
  }
  card.test_flip = flip;
  sample.trained.source = name;
  sample.trained.mean = mean;
  for (int i = 0; i < networks; ++i) {
    auto network = make_network(model, {card.channels, card.height, card.width, classes, width, card.is_vector()}, 1,
                                static_cast<std::uint32_t>(i));
    unsettle(*network, static_cast<std::uint32_t>(1000 * (i + 1)));
    network->training = false;
    sample.trained.networks.push_back(std::move(network));
  }
  const at::Tensor noise = card.is_vector() ? normal_tensor({samples, shape.channels}, 7)
                                            : normal_tensor({samples, shape.channels, shape.height, shape.width}, 7);
  sample.input = card.is_vector() ? noise : (128 + 60 * noise).clamp(0, 255).round();
  sample.logits = defined_logits(sample.trained, sample.input);
  return sample;
}

/// Every network, on images of several sizes, heads for vectors, and networks that predict together.
inline std::vector<SampleModel> sample_models() {
  std::vector<SampleModel> samples;
  for (const NetworkInfo& info : networks()) {
    const std::string name(info.name);
    if (info.takes_vectors()) {
      samples.push_back(sample_model(name, name, {20, 1, 1}, 8, false));
      continue;
    }
    samples.push_back(sample_model(name, name, {3, 64, 64}, 8, false));
    samples.push_back(sample_model(name + "-mirrored-grey", name, {1, 45, 33}, 8, true));
  }
  samples.push_back(sample_model("two-by-logits", "fast", {3, 32, 32}, 8, true, 2, PredictorMean::logits));
  samples.push_back(
      sample_model("two-by-probabilities", "resnet18", {3, 32, 32}, 4, false, 2, PredictorMean::probabilities));
  return samples;
}

}  // namespace regroup
