#include "regroup/rml/class_index.h"

#include <gtest/gtest.h>

#include "regroup/core/error.h"

namespace regroup {
namespace {

TEST(ClassIndex, ListsTheSamplesOfEachLabel) {
  const std::vector<std::int32_t> labels = {2, 0, 2, 2, 0};
  const ClassIndex index(labels, 4);
  const auto members = [&](std::int32_t y) {
    return std::vector<std::uint32_t>(index.members(y).begin(), index.members(y).end());
  };
  EXPECT_EQ(members(0), (std::vector<std::uint32_t>{1, 4}));
  EXPECT_EQ(members(1), std::vector<std::uint32_t>{});
  EXPECT_EQ(members(2), (std::vector<std::uint32_t>{0, 2, 3}));
  EXPECT_EQ(members(3), std::vector<std::uint32_t>{});
  EXPECT_EQ(index.classes(), 4);
  EXPECT_EQ(index.size(), 5U);
  EXPECT_EQ(index.label(3), 2);
}

TEST(ClassIndex, HoldsNoSamplesAtAll) { EXPECT_EQ(ClassIndex({}, 3).members(2).size(), 0U); }

TEST(ClassIndex, NamesTheSampleWhoseLabelIsOutside) {
  const std::vector<std::int32_t> labels = {0, 1, 3, -1};
  try {
    ClassIndex(labels, 3);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "label 3 of sample 2 is outside 0..2");
  }
  EXPECT_THROW(ClassIndex({}, 0), UserError);
}

}  // namespace
}  // namespace regroup
