#include "regroup/methods/dmi.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "regroup/core/random.h"

namespace regroup {
namespace {

at::Tensor some_logits(std::int64_t samples, std::int64_t classes) {
  Stream random(3, Purpose::synthetic);
  const at::Tensor logits = at::empty({samples, classes}, at::kDouble);
  for (std::int64_t i = 0; i < logits.numel(); ++i) logits.data_ptr<double>()[i] = random.normal();
  return logits;
}

at::Tensor labels() { return at::tensor({0, 1, 2, 1, 0, 2, 2}, at::kLong); }

/// By the rule of Sarrus.
double determinant(const at::Tensor& u) {
  const auto at = [&](int i, int j) { return u[i][j].item<double>(); };
  return at(0, 0) * at(1, 1) * at(2, 2) + at(0, 1) * at(1, 2) * at(2, 0) + at(0, 2) * at(1, 0) * at(2, 1) -
         at(0, 2) * at(1, 1) * at(2, 0) - at(0, 1) * at(1, 0) * at(2, 2) - at(0, 0) * at(1, 2) * at(2, 1);
}

TEST(Dmi, TheJointDistributionHasARowPerObservedLabel) {
  const at::Tensor p = at::tensor({0.9F, 0.1F, 0.2F, 0.8F, 0.5F, 0.5F, 0.4F, 0.6F}).view({4, 2});
  const at::Tensor joint = joint_distribution(p, at::tensor({0, 1, 0, 1}, at::kLong));
  EXPECT_TRUE(at::allclose(joint, at::tensor({1.4F, 0.6F, 0.6F, 1.4F}).view({2, 2}) / 4));
}

TEST(Dmi, TheLossIsMinusTheLogarithmOfTheDeterminant) {
  const at::Tensor joint = joint_distribution(at::softmax(some_logits(7, 3), 1), labels());
  EXPECT_NEAR(determinant_loss(joint).item<double>(), -std::log(std::abs(determinant(joint))), 1e-4);
}

TEST(Dmi, ItsGradientIsThatOfTheDeterminant) {
  const at::Tensor logits = some_logits(7, 3).to(at::kFloat).requires_grad_(true);
  const auto loss = [&](const at::Tensor& x) {
    return determinant_loss(joint_distribution(at::softmax(x, 1), labels()));
  };
  loss(logits).backward();
  const double step = 1e-2;
  for (std::int64_t i = 0; i < logits.numel(); ++i) {
    at::Tensor change = at::zeros({logits.numel()});
    change[i] = step;
    const at::Tensor d = change.view(logits.sizes());
    const double slope =
        (loss(logits.detach() + d).item<double>() - loss(logits.detach() - d).item<double>()) / (2 * step);
    EXPECT_NEAR(logits.grad().view(-1)[i].item<double>(), slope, 2e-3 + 5e-3 * std::abs(slope)) << i;
  }
}

/// Theorem 4.1: noise that does not depend on the sample shifts the loss by a constant, -log|det T|.
TEST(Dmi, NoiseShiftsTheLossOfAnyClassifierByTheSame) {
  const at::Tensor transition = at::tensor({0.7F, 0.2F, 0.1F, 0.3F, 0.6F, 0.1F, 0.0F, 0.5F, 0.5F}).view({3, 3});
  const double shift = -std::log(std::abs(determinant(transition)));
  for (const double certainty : {0.5, 1.0, 3.0}) {
    const at::Tensor joint = joint_distribution(at::softmax(some_logits(7, 3) * certainty, 1), labels());
    const double clean = determinant_loss(joint).item<double>();
    EXPECT_NEAR(determinant_loss(transition.t().mm(joint)).item<double>(), clean + shift, 1e-4) << certainty;
  }
}

TEST(Dmi, ABatchWithoutAClassHasNoLoss) {
  const at::Tensor p = at::softmax(some_logits(4, 3), 1);
  EXPECT_FALSE(determinant_loss(joint_distribution(p, at::tensor({0, 1, 1, 0}, at::kLong))).defined());
}

}  // namespace
}  // namespace regroup
