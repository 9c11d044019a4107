#include "regroup/methods/forward.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "regroup/core/random.h"

namespace regroup {
namespace {

at::Tensor some_probabilities(std::int64_t samples, std::int64_t classes) {
  Stream random(7, Purpose::synthetic);
  const at::Tensor logits = at::empty({samples, classes});
  for (std::int64_t i = 0; i < logits.numel(); ++i) logits.data_ptr<float>()[i] = static_cast<float>(random.normal());
  return at::softmax(logits, 1);
}

/// Counted: the highest probability of a class that enough samples are above.
std::int64_t anchor_by_counting(const at::Tensor& p, std::int64_t i, double quantile) {
  const auto value = [&](std::int64_t n) { return p[n][i].item<float>(); };
  const auto above = p.size(0) - static_cast<std::int64_t>(std::ceil(quantile * static_cast<double>(p.size(0) - 1)));
  std::int64_t best = -1;
  for (std::int64_t n = 0; n < p.size(0); ++n) {
    std::int64_t larger = 0;
    for (std::int64_t other = 0; other < p.size(0); ++other) larger += value(other) > value(n) ? 1 : 0;
    if (larger >= above && (best < 0 || value(n) > value(best))) best = n;
  }
  return best;
}

TEST(Forward, ARowOfTheMatrixIsThePredictionForTheAnchorBelowTheQuantile) {
  const at::Tensor p = some_probabilities(101, 4);
  const at::Tensor transition = transition_of_anchors(p, 0.97);
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_TRUE(at::equal(transition[i], p[anchor_by_counting(p, i, 0.97)])) << i;
}

TEST(Forward, AtTheQuantileOneItIsThePredictionForTheSurestSample) {
  const at::Tensor p = some_probabilities(50, 3);
  const at::Tensor transition = transition_of_anchors(p, 1);
  for (std::int64_t i = 0; i < 3; ++i)
    EXPECT_EQ(transition[i][i].item<float>(), p.select(1, i).max().item<float>()) << i;
}

TEST(Forward, WhereAllSamplesAreEquallySureOneOfThemIsTheAnchor) {
  const at::Tensor p = at::tensor({0.7F, 0.3F}).repeat({5, 1});
  EXPECT_TRUE(at::equal(transition_of_anchors(p, 0.97), at::tensor({0.7F, 0.3F}).repeat({2, 1})));
}

/// By hand: p = (0.9, 0.1), T = ((0.8, 0.2), (0.3, 0.7)): T^t p = (0.75, 0.25).
TEST(Forward, ObservedLabelsArePredictedThroughTheMatrix) {
  const at::Tensor log_p = at::tensor({0.9F, 0.1F, 0.9F, 0.1F}).view({2, 2}).log();
  const at::Tensor transition = at::tensor({0.8F, 0.2F, 0.3F, 0.7F}).view({2, 2});
  EXPECT_TRUE(at::allclose(observed_log_probabilities(log_p, transition).exp(),
                           at::tensor({0.75F, 0.25F}).repeat({2, 1}), 1e-5, 1e-6));
  const at::Tensor second_verified = observed_log_probabilities(log_p, transition, at::tensor({0.0F, 1.0F})).exp();
  EXPECT_TRUE(at::allclose(second_verified, at::tensor({0.75F, 0.25F, 0.9F, 0.1F}).view({2, 2}), 1e-5, 1e-6));
}

/// Theorem 2 in one point: where labels follow T, the corrected loss is least at the true probabilities.
TEST(Forward, TheCorrectedLossIsLeastAtTheTrueProbabilities) {
  const at::Tensor transition = at::tensor({0.8F, 0.2F, 0.3F, 0.7F}).view({2, 2});
  const auto expected_loss = [&](float p) {
    const at::Tensor log_p = at::tensor({p, 1 - p}).view({1, 2}).log();
    const at::Tensor observed = at::tensor({0.6F, 0.4F}).view({1, 2}).mm(transition);
    return -(observed * observed_log_probabilities(log_p, transition)).sum().item<double>();
  };
  for (const float p : {0.2F, 0.4F, 0.5F, 0.7F, 0.9F}) EXPECT_GT(expected_loss(p), expected_loss(0.6F)) << p;
}

}  // namespace
}  // namespace regroup
