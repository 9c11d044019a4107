#include "regroup/nn/second_derivatives.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "nn/nn_testing.h"
#include "regroup/nn/depthwise_convolution.h"
#include "regroup/nn/network.h"

namespace regroup {
namespace {

using Function = std::function<at::Tensor(const std::vector<at::Tensor>& weights)>;

/// The gradient of |gradient|^2 / 2.
std::vector<at::Tensor> second_derivatives(const Function& loss, const std::vector<at::Tensor>& weights) {
  const auto first = torch::autograd::grad({loss(weights)}, weights, {}, /*retain_graph=*/true, /*create_graph=*/true);
  at::Tensor half = at::zeros({});
  for (const at::Tensor& gradient : first) half = half + gradient.square().sum() / 2;
  return torch::autograd::grad({half}, weights);
}

at::Tensor learnt(at::IntArrayRef sizes, std::uint32_t index) {
  return (normal_tensor(sizes, index) * 0.3)
      .contiguous(sizes.size() == 4 && sizes[1] > 1 ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous)
      .requires_grad_(true);
}

BatchNorm norm_of(const at::Tensor& weight, const at::Tensor& bias) {
  BatchNorm norm;
  norm.weight = weight;
  norm.bias = bias;
  norm.running_mean = at::zeros({16});
  norm.running_var = at::ones({16});
  norm.num_batches_tracked = at::zeros({}, at::kLong);
  return norm;
}

/// A convolution of ours, a normalisation with an addend, one with a kernel of one pixel, and a depthwise one, beside
/// the same of the engine.
TEST(SecondDerivatives, OfAllLayersAreThoseOfTheEngine) {
  const at::Tensor x = normal_tensor({4, 16, 12, 12}, 1).contiguous(at::MemoryFormat::ChannelsLast);
  const std::vector<at::Tensor> weights{learnt({16, 16, 3, 3}, 2), learnt({16}, 3), learnt({16}, 4),
                                        learnt({16, 16, 1, 1}, 5), learnt({16, 1, 5, 5}, 6)};
  const Function ours = [&](const std::vector<at::Tensor>& w) {
    const at::Tensor y = batch_norm(Convolution{w[0], 1, 1}(x), norm_of(w[1], w[2]), true, Activation::relu, x);
    return DepthwiseConvolution{w[4], 1}(Convolution{w[3], 2, 0}(y)).square().mean();
  };
  const Function engines = [&](const std::vector<at::Tensor>& w) {
    const at::Tensor y = at::batch_norm(at::conv2d(x, w[0], {}, 1, 1), w[1], w[2], {}, {}, true, 0.1, 1e-5, false) + x;
    return at::conv2d(at::conv2d(y.relu(), w[3], {}, 2), w[4], {}, 1, 2, 1, 16).square().mean();
  };
  EXPECT_THROW(second_derivatives(ours, weights), std::logic_error) << "our own have first ones only";
  const SecondDerivatives wanted;
  const auto found = second_derivatives(ours, weights), expected = second_derivatives(engines, weights);
  for (std::size_t i = 0; i < weights.size(); ++i)
    EXPECT_TRUE(at::allclose(found[i], expected[i], 1e-3, 1e-4 * expected[i].abs().max().item<double>())) << i;
}

class SecondDerivativesOf : public testing::TestWithParam<std::string> {};

TEST_P(SecondDerivativesOf, ANetworkExist) {
  const bool is_vector = network_named(GetParam()).takes_vectors();
  const auto network = make_network(GetParam(), {is_vector ? 6 : 1, 32, 32, 3, 8, is_vector}, 1);
  const at::Tensor x = is_vector ? normal_tensor({8, 6, 1, 1}, 1)
                                 : normal_tensor({8, 1, 32, 32}, 1).contiguous(at::MemoryFormat::ChannelsLast);
  if (!is_vector) network->fit_to(x);
  std::vector<at::Tensor> weights;
  for (const Parameter& parameter : network->parameters()) weights.push_back(parameter.tensor);
  const SecondDerivatives wanted;
  const auto found = second_derivatives(
      [&](const auto&) { return at::log_softmax(network->forward(x).logits, 1).select(1, 0).mean(); }, weights);
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(at::isfinite(found[i]).all().item<bool>()) << network->parameters()[i].name;
}

INSTANTIATE_TEST_SUITE_P(Networks, SecondDerivativesOf,
                         testing::Values("resnet18", "preact-resnet18", "fast", "efficientnet-lite0", "mlp"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(SecondDerivatives, AreWantedAsLongAsAScopeLives) {
  {
    const SecondDerivatives outer;
    { const SecondDerivatives inner; }
    EXPECT_TRUE(SecondDerivatives::are_wanted());
  }
  EXPECT_FALSE(SecondDerivatives::are_wanted());
}

}  // namespace
}  // namespace regroup
