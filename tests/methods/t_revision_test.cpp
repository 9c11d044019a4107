#include "regroup/methods/t_revision.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "regroup/methods/forward.h"

namespace regroup {
namespace {

const at::Tensor& matrix() {
  static const at::Tensor transition = at::tensor({0.8F, 0.2F, 0.3F, 0.7F}).view({2, 2});
  return transition;
}

/// By hand: p = (0.9, 0.1) and T^t p = (0.75, 0.25), so beta is 0.9 / 0.75 for label 0 and 0.1 / 0.25 for label 1.
TEST(TRevision, ASampleCountsByHowMuchItsLabelIsTheTrueOne) {
  const at::Tensor log_p = at::tensor({0.9F, 0.1F, 0.9F, 0.1F}).view({2, 2}).log();
  const at::Tensor beta = importance(log_p, observed_log_probabilities(log_p, matrix()), at::tensor({0, 1}, at::kLong));
  EXPECT_NEAR(beta[0].item<float>(), 1.2F, 1e-5F);
  EXPECT_NEAR(beta[1].item<float>(), 0.4F, 1e-5F);
}

/// What the weights are for: the mean of beta times a loss over observed labels is that of the loss over true ones.
TEST(TRevision, TheWeightedLossOfObservedLabelsIsThatOfTrueOnes) {
  const at::Tensor p = at::tensor({0.6F, 0.4F}).view({1, 2});
  const at::Tensor observed = p.mm(matrix());
  double weighted = 0, plain = 0;
  for (std::int64_t label = 0; label < 2; ++label) {
    const auto loss = static_cast<double>(3 + 2 * label);  // any loss
    const double beta =
        importance(p.log(), observed_log_probabilities(p.log(), matrix()), at::tensor({label}, at::kLong))
            .item<double>();
    weighted += observed[0][label].item<double>() * beta * loss;
    plain += p[0][label].item<double>() * loss;
  }
  EXPECT_NEAR(weighted, plain, 1e-5);
}

TEST(TRevision, ARevisedMatrixHasRowsOfProbabilities) {
  const at::Tensor slack = at::tensor({0.2F, -0.5F, 0.0F, 0.3F}).view({2, 2});
  const at::Tensor revised = revised_transition(matrix(), slack);
  EXPECT_TRUE(at::allclose(revised, at::tensor({1.0F, 0.0F, 0.3F / 1.3F, 1.0F / 1.3F}).view({2, 2})));
  EXPECT_TRUE(at::allclose(revised_transition(matrix(), at::zeros({2, 2})), matrix()));
}

TEST(TRevision, TheGradientOfTheMatrixGoesThroughTheWeights) {
  const at::Tensor slack = at::zeros({2, 2}).requires_grad_(true);
  const at::Tensor log_p = at::tensor({0.9F, 0.1F}).view({1, 2}).log();
  const at::Tensor label = at::tensor({0}, at::kLong);
  const auto beta = [&](const at::Tensor& change) {
    return importance(log_p, observed_log_probabilities(log_p, revised_transition(matrix(), change)), label).sum();
  };
  beta(slack).backward();
  const double step = 1e-3;
  for (std::int64_t i = 0; i < 4; ++i) {
    at::Tensor change = at::zeros({4});
    change[i] = step;
    const double slope =
        (beta(change.view({2, 2})).item<double>() - beta(-change.view({2, 2})).item<double>()) / (2 * step);
    EXPECT_NEAR(slack.grad().view(-1)[i].item<double>(), slope, 1e-3) << i;
  }
}

}  // namespace
}  // namespace regroup
