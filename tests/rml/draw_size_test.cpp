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

TEST(RegroupMedian, ChoosesTheDrawByTheNoiseRateThatTheLossesShow) {
  for (const double rate : {0.2, 0.5}) {
    Stream stream(4, Purpose::synthetic);
    std::vector<std::int32_t> labels;
    std::vector<float> losses;
    for (int i = 0; i < 10'000; ++i) {
      labels.push_back(i % 10);
      const double log_odds = stream.uniform() < rate ? 3.5 + stream.normal() : -1.5 + stream.normal();
      losses.push_back(static_cast<float>(std::log1p(std::exp(log_odds))));
    }
    std::vector<float> weights(losses.size());
    const RegroupReport report = RegroupMedian(ClassIndex(labels, 10), {}).weights(losses, 1, weights);
    ASSERT_TRUE(report.noise_rate.has_value());
    EXPECT_NEAR(report.noise_rate->rate, rate, 0.05);
    for (const int per_group : report.per_group) EXPECT_NEAR(per_group * 6 / 1000.0, share_for_noise_rate(rate), 0.12);
  }
}

}  // namespace
}  // namespace regroup
