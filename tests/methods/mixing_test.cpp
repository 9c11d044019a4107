#include "regroup/methods/mixing.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>

namespace regroup {
namespace {

/// The largest distance between the distribution of the draws and the true one is more than 2.69 / sqrt(n) once in a
/// million (Kolmogorov and Smirnov).
void expect_distribution(double alpha, const std::function<double(double)>& cumulative) {
  constexpr std::size_t n = 20'000;
  Stream random(7, Purpose::mixing, 0, static_cast<std::uint32_t>(alpha * 100));
  std::vector<double> draws(n);
  for (double& draw : draws) draw = symmetric_beta(random, alpha);
  std::sort(draws.begin(), draws.end());
  double distance = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double expected = cumulative(draws[i]);
    distance = std::max({distance, expected - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - expected});
  }
  EXPECT_LT(distance, 2.69 / std::sqrt(n)) << alpha;
}

TEST(Mixing, SharesFollowTheBetaDistribution) {
  expect_distribution(0.5, [](double x) { return 2 / std::numbers::pi * std::asin(std::sqrt(x)); });
  expect_distribution(1, [](double x) { return x; });
  expect_distribution(2, [](double x) { return x * x * (3 - 2 * x); });
  expect_distribution(4, [](double x) { return std::pow(x, 4) * (35 - 84 * x + 70 * x * x - 20 * x * x * x); });
}

TEST(Mixing, ATinyAlphaGivesNumbersAllTheSame) {
  Stream random(7, Purpose::mixing);
  for (int i = 0; i < 1000; ++i) {
    const double share = symmetric_beta(random, 0.01);
    EXPECT_TRUE(share >= 0 && share <= 1);
  }
}

/// Chi-square over the six orders of three: more than 35.9 once in a million.
TEST(Mixing, EveryOrderIsEquallyLikely) {
  Stream random(7, Purpose::mixing);
  std::map<std::vector<std::int64_t>, double> counts;
  constexpr double draws = 12'000;
  for (int i = 0; i < static_cast<int>(draws); ++i) ++counts[permutation(random, 3)];
  ASSERT_EQ(counts.size(), 6U);
  double chi_square = 0;
  for (const auto& [order, count] : counts) chi_square += (count - draws / 6) * (count - draws / 6) / (draws / 6);
  EXPECT_LT(chi_square, 35.9);
}

TEST(Mixing, RowsAreMixedWithTheirPartners) {
  const at::Tensor x = at::tensor({1.0F, 2.0F, 3.0F, 10.0F, 20.0F, 30.0F}).view({3, 2});
  const at::Tensor result = mixed(x, at::tensor({2, 0, 1}, at::kLong), 0.75);
  EXPECT_TRUE(at::allclose(result, at::tensor({5.75F, 9.0F, 2.5F, 8.0F, 15.75F, 25.0F}).view({3, 2})));
}

TEST(Mixing, ImagesKeepTheirLayout) {
  const auto layout = at::MemoryFormat::ChannelsLast;
  at::manual_seed(1);
  const at::Tensor x = at::randn({4, 3, 5, 5}, at::kDouble).contiguous(layout);
  const at::Tensor partners = at::tensor({1, 0, 3, 2}, at::kLong);
  const at::Tensor result = mixed(x, partners, 0.6);
  EXPECT_TRUE(result.is_contiguous(layout));
  EXPECT_TRUE(at::allclose(result, x * 0.6 + x.index_select(0, partners) * 0.4));
}

TEST(Mixing, SmoothedTargetsSpreadAShareOverAllClasses) {
  const at::Tensor targets = at::tensor({1.0F, 0.0F, 0.0F, 0.5F, 0.5F, 0.0F}).view({2, 3});
  const float rest = 0.3F / 3;
  EXPECT_TRUE(at::allclose(smoothed(targets, 0.3),
                           at::tensor({0.7F + rest, rest, rest, 0.35F + rest, 0.35F + rest, rest}).view({2, 3})));
}

TEST(Mixing, SoftCrossEntropyIsThatOfEachLabelWeighed) {
  at::manual_seed(1);
  const at::Tensor logits = at::randn({5, 4}), labels = at::tensor({0, 3, 2, 1, 1}, at::kLong);
  const at::Tensor others = at::tensor({1, 1, 0, 0, 3}, at::kLong);
  const auto loss = [&](const at::Tensor& y) {
    return -at::log_softmax(logits, 1).gather(1, y.unsqueeze(1)).squeeze(1);
  };
  const at::Tensor targets = one_hot_rows(labels, 4) * 0.7 + one_hot_rows(others, 4) * 0.3;
  EXPECT_TRUE(at::allclose(soft_cross_entropy(logits, targets), loss(labels) * 0.7 + loss(others) * 0.3));
  const at::Tensor weights = at::tensor({2.0F, 0.0F, 1.0F, 0.5F});
  const at::Tensor weighed =
      loss(labels) * 0.7 * weights.index_select(0, labels) + loss(others) * 0.3 * weights.index_select(0, others);
  EXPECT_TRUE(at::allclose(soft_cross_entropy(logits, targets, weights), weighed));
}

}  // namespace
}  // namespace regroup
