#include "regroup/methods/mlnt.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace regroup {
namespace {

/// Two clusters of three samples: neighbours are of the same cluster.
TEST(Mlnt, HalfOfTheBatchGetsLabelsOfItsNeighbours) {
  const at::Tensor features = at::tensor({0.0F, 0.1F, 0.2F, 9.0F, 9.1F, 9.2F}).view({6, 1});
  const at::Tensor labels = at::tensor({0, 1, 2, 3, 4, 5}, at::kLong);
  for (std::uint32_t draw = 0; draw < 50; ++draw) {
    Stream random(1, Purpose::mixing, 0, draw);
    const at::Tensor synthetic = synthetic_labels(labels, features, 2, random);
    EXPECT_EQ(synthetic.ne(labels).sum().item<std::int64_t>(), 3) << "its own label is no neighbour's";
    for (std::int64_t i = 0; i < 6; ++i) EXPECT_EQ(synthetic[i].item<std::int64_t>() / 3, i / 3);
  }
  Stream random(1, Purpose::mixing);
  EXPECT_TRUE(
      at::equal(synthetic_labels(labels.slice(0, 0, 1), features.slice(0, 0, 1), 10, random), labels.slice(0, 0, 1)))
      << "one sample has no neighbour";
}

/// By hand: the loss a^2 b has the gradient (2ab, a^2), and theta' = (a - 2abr, b - a^2 r). So theta'_1 has the
/// gradient (1 - 2br, -2ar), and theta'_2 has (-2ar, 1).
TEST(Mlnt, ALossAfterAStepHasAGradientThroughTheStep) {
  const at::Tensor a = at::tensor(3.0F).requires_grad_(true), b = at::tensor(0.5F).requires_grad_(true);
  const at::Tensor frozen = at::tensor(7.0F);
  const double rate = 0.1;
  const auto stepped = after_one_step(a * a * b * frozen / 7, {a, b, frozen}, rate);
  EXPECT_NEAR(stepped[0].item<float>(), 3 - 0.3F, 1e-5F);
  EXPECT_NEAR(stepped[1].item<float>(), 0.5F - 0.9F, 1e-5F);
  EXPECT_EQ(stepped[2].item<float>(), 7);
  (stepped[0] + 10 * stepped[1]).backward();
  EXPECT_NEAR(a.grad().item<float>(), (1 - 0.1) + 10 * -0.6, 1e-4);
  EXPECT_NEAR(b.grad().item<float>(), -0.6 + 10, 1e-4);
}

TEST(Mlnt, TheMetaLossRisesToItsWeight) {
  EXPECT_NEAR(meta_ramp(0), std::exp(-5.0), 1e-12);
  EXPECT_NEAR(meta_ramp(0.5), std::exp(-1.25), 1e-12);
  EXPECT_EQ(meta_ramp(1), 1);
}

}  // namespace
}  // namespace regroup
