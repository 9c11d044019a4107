#include "regroup/labels/noise_rate_estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace regroup {
namespace {

TEST(NoiseRateEstimate, OfACourseIsThatAfterSoManyEpochs) {
  std::vector<float> course{0.8F, 0.7F, 0.6F, 0.5F, 0.4F, 0.35F, 0.31F, 0.3F, 0.28F, 0.1F, 0.05F};
  EXPECT_FLOAT_EQ(static_cast<float>(*rate_of_course(course, 8)), 0.3F);
  course[7] = 0.9F;
  EXPECT_FLOAT_EQ(static_cast<float>(*rate_of_course(course, 8)), 0.31F) << "one odd epoch does not decide";
  EXPECT_FLOAT_EQ(static_cast<float>(*rate_of_course(course, 2)), 0.7F);
}

TEST(NoiseRateEstimate, OfAShortOrUnfinishedCourseIsItsLast) {
  const std::vector<float> begun{0.8F, 0.7F, NAN, NAN};
  EXPECT_FLOAT_EQ(static_cast<float>(*rate_of_course(begun, 8)), 0.7F);
  EXPECT_FLOAT_EQ(static_cast<float>(*rate_of_course(std::vector<float>{0.8F}, 8)), 0.8F);
  EXPECT_FALSE(rate_of_course(std::vector<float>{NAN, NAN}, 8));
  EXPECT_FALSE(rate_of_course({}, 8));
}

TEST(NoiseRateEstimate, TheMoreCertainOneCountsMore) {
  const UncertainRate both = combined({0.2, 0.01}, {0.22, 0.02});
  EXPECT_NEAR(both.value, 0.204, 1e-9);
  EXPECT_NEAR(both.error, std::sqrt(0.0001 * 0.0004 / 0.0005), 1e-9);
}

TEST(NoiseRateEstimate, IsUncertainWhereTheTwoContradictEachOther) {
  const UncertainRate both = combined({0.1, 0.02}, {0.4, 0.02});
  EXPECT_NEAR(both.value, 0.25, 1e-9);
  EXPECT_NEAR(both.error, 0.15, 1e-9) << "each is within one standard error";
}

TEST(NoiseRateEstimate, FewSamplesSayLittle) {
  EXPECT_GT(rate_of_held_out(0.3, 20).error, 0.1);
  EXPECT_LT(rate_of_held_out(0.3, 20'000).error, 0.061);
  EXPECT_LT(uncertain_rate_of_course(0.3, 20'000).error, 0.026);
}

}  // namespace
}  // namespace regroup
