#include "regroup/methods/co_teaching.h"

#include <gtest/gtest.h>

namespace regroup {
namespace {

TEST(CoTeaching, TheSmallestLossesAreChosenInOrder) {
  const std::vector<float> losses{3, 1, 4, 1, 5, 9, 2, 6};
  EXPECT_EQ(smallest(losses, 0), (std::vector<std::int64_t>{1, 3, 6, 0, 2, 4, 7, 5}));
  EXPECT_EQ(smallest(losses, 0.5), (std::vector<std::int64_t>{1, 3, 6, 0}));
  EXPECT_EQ(smallest(losses, 0.6), (std::vector<std::int64_t>{1, 3, 6})) << "rounded down, as published";
  EXPECT_EQ(smallest(losses, 1), (std::vector<std::int64_t>{1})) << "one at least";
}

/// linspace(0, rate, 10) in the first ten epochs, then the rate.
TEST(CoTeaching, TheForgottenShareRisesToTheNoiseRate) {
  for (int epoch = 0; epoch < 10; ++epoch) EXPECT_NEAR(forget_share(epoch, 10, 0.45), 0.05 * epoch, 1e-12);
  EXPECT_EQ(forget_share(10, 10, 0.45), 0.45);
  EXPECT_EQ(forget_share(199, 10, 0.45), 0.45);
  EXPECT_EQ(forget_share(0, 1, 0.45), 0.45);
}

}  // namespace
}  // namespace regroup
