#include "regroup/methods/elr_plus.h"

#include <gtest/gtest.h>

#include <cmath>

namespace regroup {
namespace {

TEST(ElrPlus, TheRampRisesSlowlyFirst) {
  EXPECT_NEAR(slow_ramp(0, 10), std::exp(-5), 1e-12);
  EXPECT_NEAR(slow_ramp(5, 10), std::exp(-1.25), 1e-12);
  EXPECT_EQ(slow_ramp(10, 10), 1);
  EXPECT_EQ(slow_ramp(99, 10), 1);
  EXPECT_EQ(slow_ramp(0, 0), 1) << "there is none";
}

}  // namespace
}  // namespace regroup
