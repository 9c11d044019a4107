#include "regroup/noise/transition.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace regroup {
namespace {

TEST(Transition, RowsSumToOne) {
  for (const int classes : {2, 3, 10}) {
    for (const double rate : {0.0, 0.2, 0.45, 1.0}) {
      for (const auto& matrix : {symmetric_transition(classes, rate), symmetric_all_transition(classes, rate),
                                 pairflip_transition(classes, rate)}) {
        for (int from = 0; from < classes; ++from) {
          const auto row = matrix.row(from);
          EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-12);
        }
      }
    }
  }
}

TEST(Transition, HasTheConventionsOfEachKind) {
  const auto symmetric = symmetric_transition(5, 0.4);
  EXPECT_DOUBLE_EQ(symmetric(2, 2), 0.6);
  EXPECT_DOUBLE_EQ(symmetric(2, 0), 0.1);
  const auto all = symmetric_all_transition(5, 0.4);
  EXPECT_DOUBLE_EQ(all(2, 2), 1 - 0.4 * (1 - 1.0 / 5));
  EXPECT_DOUBLE_EQ(all(2, 0), 0.4 / 5);
  const auto pairs = pairflip_transition(5, 0.4);
  EXPECT_DOUBLE_EQ(pairs(2, 3), 0.4);
  EXPECT_DOUBLE_EQ(pairs(4, 0), 0.4);
  EXPECT_DOUBLE_EQ(pairs(4, 4), 0.6);
  EXPECT_EQ(pairs(2, 4), 0);
}

TEST(DrawLabel, CutsTheUnitIntervalWithTheCleanClassFirst) {
  const std::vector<double> row = {0.25, 0, 0.5, 0.25};
  EXPECT_EQ(draw_label(row, 2, 0.0), 2);
  EXPECT_EQ(draw_label(row, 2, 0.49), 2);
  EXPECT_EQ(draw_label(row, 2, 0.5), 0);
  EXPECT_EQ(draw_label(row, 2, 0.74), 0);
  EXPECT_EQ(draw_label(row, 2, 0.75), 3);
  EXPECT_EQ(draw_label(row, 2, 0.999), 3);
}

TEST(DrawLabel, NeverDrawsWhatIsImpossible) {
  EXPECT_EQ(draw_label(std::vector<double>{0, 1}, 0, 0.0), 1);
  EXPECT_EQ(draw_label(std::vector<double>{1, 0}, 0, 0.9999999), 0);
  // Sums short of 1, as rounding leaves them: what is beyond goes to the last class that is possible.
  EXPECT_EQ(draw_label(std::vector<double>{0.5, 0.4, 0}, 0, 0.95), 1);
  EXPECT_EQ(draw_label(std::vector<double>{0.9, 0, 0}, 0, 0.95), 0);
}

}  // namespace
}  // namespace regroup
