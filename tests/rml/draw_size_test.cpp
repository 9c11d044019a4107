#include "regroup/rml/draw_size.h"

#include <gtest/gtest.h>

#include <cmath>

#include "regroup/core/random.h"
#include "regroup/rml/regroup_median.h"

namespace regroup {
namespace {

TEST(DrawSize, FollowsThePapersSharesAndFallsWithTheNoise) {
  EXPECT_NEAR(share_for_noise_rate(0.2), 0.66, 0.07);
  EXPECT_NEAR(share_for_noise_rate(0.4), 0.24, 0.06);
  EXPECT_NEAR(share_for_noise_rate(0.5), 0.24, 0.05);
  EXPECT_NEAR(share_for_noise_rate(0.8), 0.07, 0.001);
  for (int i = 0; i < 100; ++i) EXPECT_GT(share_for_noise_rate(i / 100.0), share_for_noise_rate((i + 1) / 100.0));
  EXPECT_EQ(share_for_noise_rate(-1), share_for_noise_rate(0));
  EXPECT_EQ(share_for_noise_rate(2), share_for_noise_rate(1));
}

/// Losses of 10,000 samples in 10 classes, of which a share is wrong.
std::vector<float> losses_with(double rate, double wrong_mean) {
  Stream stream(4, Purpose::synthetic);
  std::vector<float> losses;
  for (int i = 0; i < 10'000; ++i) {
    const double log_odds = stream.uniform() < rate ? wrong_mean + stream.normal() : -1.5 + stream.normal();
    losses.push_back(static_cast<float>(std::log1p(std::exp(log_odds))));
  }
  return losses;
}

RegroupMedian ten_classes() {
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 10'000; ++i) labels.push_back(i % 10);
  return {ClassIndex(labels, 10), {}};
}

TEST(RegroupMedian, ChoosesTheDrawByTheNoiseRateThatTheLossesShow) {
  for (const double rate : {0.2, 0.5}) {
    const std::vector<float> losses = losses_with(rate, 3.5);
    std::vector<float> weights(losses.size());
    const RegroupReport report = ten_classes().weights(losses, 1, weights);
    ASSERT_TRUE(report.noise_rate.has_value());
    EXPECT_NEAR(report.noise_rate.value_or(-1), rate, 0.05);
    EXPECT_NEAR(report.settled_noise_rate, rate, 0.05);
    for (const int per_group : report.per_group) EXPECT_NEAR(per_group * 6 / 1000.0, share_for_noise_rate(rate), 0.12);
  }
}

/// When the wrong labels are memorised, their losses do not show them any more.
TEST(RegroupMedian, RemembersTheNoiseRateOfEarlierEpochs) {
  const std::vector<float> early = losses_with(0.5, 3.5), late = losses_with(0.5, -1.5);
  std::vector<float> weights(early.size());
  RegroupMedian rml = ten_classes();
  for (const std::uint32_t epoch : {1U, 2U, 3U}) rml.weights(early, epoch, weights);
  for (const std::uint32_t epoch : {4U, 5U}) {
    const RegroupReport report = rml.weights(late, epoch, weights);
    EXPECT_LT(report.noise_rate.value_or(-1), 0.1);
    EXPECT_NEAR(report.settled_noise_rate, 0.5, 0.05);
  }

  RegroupMedian resumed = ten_classes();
  resumed.noise_rates() = rml.noise_rates();
  std::vector<float> again(weights.size());
  rml.weights(late, 6, weights);
  resumed.weights(late, 6, again);
  EXPECT_EQ(again, weights);
}

}  // namespace
}  // namespace regroup
