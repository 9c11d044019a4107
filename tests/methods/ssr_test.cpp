#include "regroup/methods/ssr.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace regroup {
namespace {

TEST(Ssr, ALabelIsRightIfNoClassHasAGreaterShareOfItsSamplesAmongTheNeighbours) {
  // Class 0 has four samples and class 1 has two: a vote for class 1 counts twice as much.
  const std::vector<std::int32_t> labels{0, 0, 0, 0, 1, 1};
  const at::Tensor votes =
      at::tensor({4.0F, 0.0F, 3.0F, 1.0F, 2.0F, 1.0F, 1.0F, 2.0F, 2.0F, 1.0F, 3.0F, 1.0F}).view({6, 2});
  using Marks = std::vector<std::int32_t>;
  EXPECT_EQ(select_by_votes(votes, labels, 1), (Marks{1, 1, 1, 0, 1, 0}));
  EXPECT_EQ(select_by_votes(votes, labels, 0.6), (Marks{1, 1, 1, 0, 1, 1})) << "two thirds of the other's share";
}

TEST(Ssr, EveryClassIsSeenAsOftenAsTheLargest) {
  const std::vector<std::uint32_t> slots{5, 7, 8, 9, 11, 12};
  const std::vector<std::int32_t> labels{0, 2, 2, 0, 2, 2};
  EXPECT_EQ(oversampled(slots, labels, 3), (std::vector<std::uint32_t>{5, 9, 5, 9, 7, 8, 11, 12}));
}

}  // namespace
}  // namespace regroup
