#include "regroup/nn/network.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "regroup/core/error.h"
#include "regroup/core/random.h"
#include "regroup/nn/efficientnet_lite.h"
#include "regroup/nn/fast_net.h"
#include "regroup/nn/resnet.h"
#include "regroup/nn/vector_head.h"

namespace regroup {
namespace {

constexpr std::array table{
    NetworkInfo{"fast", "A small network for a CPU; the fast recipe is made for it", 64, 96, make_fast_net},
    NetworkInfo{"resnet18", "ResNet-18 with the stem for small images", 64, 224, make_resnet18},
    NetworkInfo{"resnet34", "ResNet-34 with the stem for small images", 64, 224, make_resnet34},
    NetworkInfo{"preact-resnet18", "ResNet-18 that normalises before it convolves, for small images", 64, 224,
                make_preact_resnet18},
    NetworkInfo{"resnet18-imagenet", "ResNet-18 with the stem of ImageNet, for images from about 64 pixels", 64, 224,
                make_resnet18_imagenet},
    NetworkInfo{"resnet34-imagenet", "ResNet-34 with the stem of ImageNet, for images from about 64 pixels", 64, 224,
                make_resnet34_imagenet},
    NetworkInfo{"resnet50", "ResNet-50 with the stem of ImageNet, for images from about 64 pixels", 64, 224,
                make_resnet50},
    NetworkInfo{"efficientnet-lite0", "EfficientNet-Lite0, made for a CPU, for images from about 64 pixels", 16, 224,
                make_efficientnet_lite0},
    NetworkInfo{"linear", "The classifier alone, for vectors (--data features:)", 4, 0, make_linear},
    NetworkInfo{"mlp", "One hidden layer before the classifier, for vectors (--data features:)", 256, 0, make_mlp},
};

/// He et al. 2015 by the outputs for convolutions, the engine's own bounds for the last layer, as torchvision has it.
void initialise(Network& network, std::uint64_t seed, std::uint32_t member) {
  at::NoGradGuard no_grad;
  std::uint32_t layer = 0;
  at::Tensor last_weight;
  for (const Parameter& parameter : network.parameters()) {
    Stream stream(seed, Purpose::weights, member, layer++);
    const at::Tensor values = at::empty(parameter.tensor.sizes(), at::kFloat);
    const auto fill = [&](auto&& draw) {
      float* out = values.data_ptr<float>();
      for (std::int64_t i = 0; i < values.numel(); ++i) out[i] = static_cast<float>(draw());
    };
    if (parameter.tensor.dim() == 4) {
      const auto outputs =
          parameter.tensor.size(0) / parameter.groups * parameter.tensor.size(2) * parameter.tensor.size(3);
      fill([&, deviation = std::sqrt(2.0 / static_cast<double>(outputs))] { return stream.normal() * deviation; });
    } else if (network.is_of_classifier(parameter.name)) {
      if (parameter.tensor.dim() == 2) last_weight = parameter.tensor;
      const double bound = 1 / std::sqrt(static_cast<double>(last_weight.size(1)));
      fill([&] { return (2 * stream.uniform() - 1) * bound; });
    } else if (parameter.tensor.dim() == 2) {
      // A hidden layer: He et al. by its inputs.
      const auto inputs = static_cast<double>(parameter.tensor.size(1));
      fill([&, deviation = std::sqrt(2.0 / inputs)] { return stream.normal() * deviation; });
    } else {
      continue;
    }
    parameter.tensor.copy_(values);
  }
}

}  // namespace

at::Tensor Network::add_parameter(const std::string& name, at::Tensor tensor) {
  tensor.requires_grad_();
  parameters_.push_back({{name, tensor}});
  return tensor;
}

Convolution Network::add_convolution(const std::string& name, int in, int out, int kernel, int stride, int padding) {
  // The layout of the images is that of the weights too, so that no gradient is turned around.
  const auto options = at::TensorOptions().dtype(at::kFloat).memory_format(at::MemoryFormat::ChannelsLast);
  return {add_parameter(name + ".weight", at::empty({out, in, kernel, kernel}, options)), stride, padding};
}

BatchNorm Network::add_batch_norm(const std::string& name, int channels) {
  BatchNorm norm{add_parameter(name + ".weight", at::ones({channels})),
                 add_parameter(name + ".bias", at::zeros({channels})), at::zeros({channels}), at::ones({channels}),
                 at::zeros({}, at::kLong)};
  buffers_.push_back({name + ".running_mean", norm.running_mean});
  buffers_.push_back({name + ".running_var", norm.running_var});
  buffers_.push_back({name + ".num_batches_tracked", norm.num_batches_tracked});
  return norm;
}

at::Tensor Network::add_depthwise(const std::string& name, int channels, int kernel) {
  at::Tensor weight = add_parameter(name + ".weight", at::empty({channels, 1, kernel, kernel}));
  parameters_.back().groups = channels;
  return weight;
}

Linear Network::add_hidden(const std::string& name, int in, int out) {
  at::Tensor weight = add_parameter(name + ".weight", at::empty({out, in}));
  return {weight, add_parameter(name + ".bias", at::zeros({out}))};
}

Linear Network::add_linear(const std::string& name, int in, int out) {
  classifier_name_ = name;
  at::Tensor weight = add_parameter(name + ".weight", at::empty({out, in}));
  return {weight, add_parameter(name + ".bias", at::empty({out}))};
}

at::Tensor Network::add_bias(const std::string& name, int channels) {
  return add_parameter(name, at::zeros({channels}));
}

void Network::count(const at::Tensor& weight, int height, int width) {
  const double pixels = static_cast<double>(height) * width;
  multiply_adds += static_cast<double>(weight.numel()) * pixels;
  outputs += static_cast<double>(weight.size(0)) * pixels;
}

Parameter& Network::parameter(std::string_view name) {
  return *std::find_if(parameters_.begin(), parameters_.end(), [&](const auto& p) { return p.name == name; });
}

std::span<const NetworkInfo> networks() { return table; }

const NetworkInfo& network_named(std::string_view name) {
  const auto* const info = std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.name == name; });
  if (info != table.end()) return *info;
  std::vector<std::string_view> names;
  for (const auto& row : table) names.push_back(row.name);
  throw UserError(fmt::format("unknown model '{}'; known: {}", name, fmt::join(names, ", ")));
}

std::unique_ptr<Network> make_network(std::string_view name, const NetworkShape& shape, std::uint64_t seed,
                                      std::uint32_t member) {
  const NetworkInfo& info = network_named(name);
  if (info.takes_vectors() != shape.is_vector)
    throw UserError(
        shape.is_vector
            ? fmt::format("the model {} takes images, and the data is vectors; give --model linear or mlp", name)
            : fmt::format("the model {} takes vectors, and the data is images; give another --model, such "
                          "as fast or resnet18",
                          name));
  if (!shape.is_vector && std::min(shape.height, shape.width) < 28)
    throw UserError(fmt::format("the images are {}x{}; a network needs at least 28x28", shape.width, shape.height));
  NetworkShape filled = shape;
  if (filled.base_width == 0) filled.base_width = info.default_width;
  if (filled.base_width < 4) throw UserError(fmt::format("width {} of {} is below 4", filled.base_width, name));
  auto network = info.make(filled);
  initialise(*network, seed, member);
  return network;
}

void Network::move_to(at::Device device) {
  for (Parameter& parameter : parameters_) parameter.tensor.set_data(parameter.tensor.to(device));
  for (NamedTensor& buffer : buffers_) buffer.tensor.set_data(buffer.tensor.to(device));
}

void copy_tensors(const Network& from, Network& to) {
  at::NoGradGuard no_grad;
  const std::size_t count = std::min(from.parameters().size(), to.parameters().size());
  for (std::size_t i = 0; i < count; ++i) to.parameters()[i].tensor.copy_(from.parameters()[i].tensor);
  for (std::size_t i = 0; i < from.buffers().size(); ++i) to.buffers()[i].tensor.copy_(from.buffers()[i].tensor);
}

}  // namespace regroup
