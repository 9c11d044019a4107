#include "regroup/train/time_left.h"

#include <gtest/gtest.h>

namespace regroup {
namespace {

TEST(TimeLeft, LaterEpochsAreLikeTheOneUnderWayAndThenLikeTheLast) {
  EXPECT_EQ(seconds_of_later_epochs({.epoch = 0, .epochs = 5, .current = 10, .waited = 4}), 40);
  EXPECT_EQ(seconds_of_later_epochs({.epoch = 1, .epochs = 5, .last = 12, .current = 10}), 36);
  EXPECT_EQ(seconds_of_later_epochs({.epoch = 4, .epochs = 5, .last = 12, .current = 10}), 0);
}

TEST(TimeLeft, EpochsInWhichAllLayersLearnTakeLongerThanFrozenOnes) {
  // 4 seconds of waiting stay, 6 of computing become 18.
  EXPECT_EQ(thawed_seconds({.epoch = 0, .epochs = 5, .frozen = 1, .current = 10, .waited = 4}), 22);
  EXPECT_EQ(seconds_of_later_epochs({.epoch = 0, .epochs = 5, .frozen = 1, .current = 10, .waited = 4}), 4 * 22);
}

TEST(TimeLeft, FrozenEpochsToComeAreLikeFrozenOnes) {
  EXPECT_EQ(seconds_of_later_epochs({.epoch = 0, .epochs = 5, .frozen = 3, .current = 10}), 2 * 10 + 2 * 30);
  EXPECT_EQ(seconds_of_later_epochs({.epoch = 1, .epochs = 5, .frozen = 3, .last = 11, .current = 10}), 11 + 2 * 30);
  EXPECT_EQ(seconds_of_later_epochs({.epoch = 0, .epochs = 5, .frozen = 9, .current = 10}), 40) << "all are frozen";
}

TEST(TimeLeft, AFrozenEpochSaysNothingAboutTheFirstOneThatIsNot) {
  EXPECT_EQ(seconds_of_later_epochs({.epoch = 1, .epochs = 5, .frozen = 1, .last = 10, .current = 31}), 3 * 31);
  EXPECT_EQ(seconds_of_later_epochs({.epoch = 2, .epochs = 5, .frozen = 1, .last = 30, .current = 31}), 2 * 30);
}

}  // namespace
}  // namespace regroup
