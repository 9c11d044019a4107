#include "regroup/methods/mentornet.h"

#include <gtest/gtest.h>

namespace regroup {
namespace {

const std::vector<float> losses{0.1F, 1.0F, 1.25F, 1.5F, 9.0F};

TEST(MentorNet, FirstAllSamplesCount) {
  EXPECT_EQ(curriculum_weights(losses, 1, 0), (std::vector<float>{1, 1, 1, 1, 1}));
  EXPECT_EQ(curriculum_weights(losses, 1, 0.1799), (std::vector<float>{1, 1, 1, 1, 1}));
}

TEST(MentorNet, ThenThoseCountWhoseLossIsUpToTheBound) {
  EXPECT_EQ(curriculum_weights(losses, 1, 0.18), (std::vector<float>{1, 1, 0, 0, 0}));
  EXPECT_EQ(curriculum_weights(losses, 1, 0.8999), (std::vector<float>{1, 1, 0, 0, 0}));
}

TEST(MentorNet, InTheEndOthersCountTheLessTheFurtherTheyAreAboveIt) {
  EXPECT_EQ(curriculum_weights(losses, 1, 0.9), (std::vector<float>{1, 1, 0.75F, 0.5F, 0}));
}

}  // namespace
}  // namespace regroup
