#include "regroup/nn/vector_head.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/user_error.h"

namespace regroup {
namespace {

at::Tensor parameter(const Network& network, const std::string& name) {
  for (const Parameter& one : network.parameters())
    if (one.name == name) return one.tensor.detach();
  return {};
}

const NetworkShape shape{5, 1, 1, 3, 4, true};

TEST(VectorHead, LinearIsTheClassifierAlone) {
  const auto network = make_network("linear", shape, 1);
  const at::Tensor x = at::randn({7, 5, 1, 1});
  const Scores scores = network->forward(x);
  EXPECT_TRUE(at::equal(scores.features, x.view({7, 5})));
  const at::Tensor expected =
      at::mm(x.view({7, 5}), parameter(*network, "fc.weight").t()) + parameter(*network, "fc.bias");
  EXPECT_TRUE(at::allclose(scores.logits, expected, 1e-5, 1e-6));
  EXPECT_EQ(network->parameters().size(), 2U);
}

TEST(VectorHead, MlpHasAHiddenLayerWithRelu) {
  const auto network = make_network("mlp", shape, 1);
  const at::Tensor x = at::randn({7, 5, 1, 1});
  const Scores scores = network->forward(x);
  const at::Tensor hidden =
      at::mm(x.view({7, 5}), parameter(*network, "hidden.weight").t()) + parameter(*network, "hidden.bias");
  EXPECT_TRUE(at::allclose(scores.features, hidden.clamp_min(0), 1e-5, 1e-6));
  EXPECT_EQ(scores.logits.sizes(), (std::vector<std::int64_t>{7, 3}));
  EXPECT_TRUE(at::equal(parameter(*network, "hidden.bias"), at::zeros({4})));
}

TEST(VectorHead, HiddenWeightsVaryByTheNumberOfInputs) {
  const auto network = make_network("mlp", {200, 1, 1, 3, 100, true}, 1);
  const at::Tensor weight = parameter(*network, "hidden.weight");
  // 20,000 normal numbers: the deviation is off by a hundredth at most, but for a chance of 1 in 10^4.
  EXPECT_NEAR(weight.std().item<double>(), std::sqrt(2.0 / 200), 0.02 * std::sqrt(2.0 / 200));
  EXPECT_FALSE(at::equal(weight, parameter(*make_network("mlp", {200, 1, 1, 3, 100, true}, 2), "hidden.weight")));
}

TEST(VectorHead, TakesVectorsAndOthersTakeImages) {
  EXPECT_NE(user_error([] { make_network("resnet18", shape, 1); }).find("takes images, and the data is vectors"),
            std::string::npos);
  EXPECT_NE(user_error([] {
              make_network("linear", {3, 32, 32, 3}, 1);
            }).find("takes vectors, and the data is images"),
            std::string::npos);
}

}  // namespace
}  // namespace regroup
