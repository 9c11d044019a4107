#include "regroup/methods/gce.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace regroup {
namespace {

TEST(Gce, IsTheFormulaOfThePaper) {
  const double p[] = {0.9, 0.5, 0.1, 1e-3};
  const at::Tensor losses = generalised_cross_entropy(at::tensor({p[0], p[1], p[2], p[3]}, at::kDouble).log(), 0.7);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(losses[i].item<double>(), (1 - std::pow(p[i], 0.7)) / 0.7, 1e-12);
}

TEST(Gce, LiesBetweenCrossEntropyAndTheAbsoluteError) {
  const at::Tensor log_p = at::tensor({0.8, 0.15, 0.05}, at::kDouble).log();
  EXPECT_TRUE(generalised_cross_entropy(log_p, 1e-6).allclose(-log_p, 1e-4));
  EXPECT_TRUE(generalised_cross_entropy(log_p, 1).allclose(1 - log_p.exp()));
}

/// The derivative of p^q is infinite at 0; that of the loss by the logit is p^q (1 - p), which is not.
TEST(Gce, HasAGradientWhereALabelIsImpossible) {
  at::Tensor logits = at::tensor({200.0F, 0.0F, 1.0F});
  logits.requires_grad_(true);
  generalised_cross_entropy(at::log_softmax(logits, 0), 0.7)[1].backward();
  EXPECT_TRUE(logits.grad().isfinite().all().item<bool>());
}

}  // namespace
}  // namespace regroup
