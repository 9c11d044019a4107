#include "regroup/methods/rml.h"

#include <gtest/gtest.h>

#include <cmath>

namespace regroup {
namespace {

TEST(Rml, TheThresholdIsTheMeanEstimateOfSamplesWhoseLossIsLowered) {
  const std::vector<float> losses{0.1F, 0.5F, 1.0F, 4.0F};
  EXPECT_DOUBLE_EQ(threshold_of(std::vector<float>{1, 1, 0.5F, 0.25F}, losses), 0.75);
  EXPECT_TRUE(std::isnan(threshold_of(std::vector<float>{1, 1, 1, 1}, losses)));
}

TEST(Rml, TheThresholdOfLargeGroupsTellsAllWeights) {
  // One class; its losses are spread evenly over 0 to 6.
  std::vector<float> losses(3000), weights(3000);
  for (std::size_t i = 0; i < losses.size(); ++i) losses[i] = static_cast<float>(i) / 500;
  RegroupOptions options;
  options.draw = DrawSize::per_group(200);
  RegroupMedian(ClassIndex(std::vector<std::int32_t>(3000, 0), 1), options).weights(losses, 1, weights);
  const double threshold = threshold_of(weights, losses);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const auto loss = static_cast<double>(losses[i]);
    EXPECT_NEAR(weights[i], std::min(1.0, threshold / loss), 0.25) << loss;
  }
}

}  // namespace
}  // namespace regroup
