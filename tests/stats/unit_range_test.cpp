#include "regroup/stats/unit_range.h"

#include <gtest/gtest.h>

#include <limits>

#include "regroup/core/error.h"

namespace regroup {
namespace {

TEST(UnitRange, FullRangeMapsTheSmallestToZeroAndTheLargestToOne) {
  const std::vector<float> values = {3, 1, 2, 5};
  const UnitRange range = quantile_range(values);
  EXPECT_EQ(range.low, 1);
  EXPECT_EQ(range.high, 5);
  EXPECT_EQ(normalise(values, range), (std::vector<float>{0.5F, 0, 0.25F, 1}));
}

TEST(UnitRange, QuantilesAreInterpolated) {
  const std::vector<float> values = {4, 0, 2, 1, 3};
  const UnitRange range = quantile_range(values, 0.05, 0.9);
  EXPECT_DOUBLE_EQ(range.low, 0.2);
  EXPECT_DOUBLE_EQ(range.high, 3.6);
}

TEST(UnitRange, TrimmingLeavesOutWhatLiesOutside) {
  const std::vector<float> values = {-9, 1, 2, 3, 99};
  const UnitRange range = {1, 3};
  EXPECT_EQ(normalise_trimmed(values, range), (std::vector<float>{0, 0.5F, 1}));
  EXPECT_EQ(normalise(values, range), (std::vector<float>{0, 0, 0.5F, 1, 1}));
}

TEST(UnitRange, EqualValuesAndNoValuesHaveAPlaceToo) {
  const std::vector<float> values = {2, 2};
  EXPECT_EQ(normalise(values, quantile_range(values)), (std::vector<float>{0, 0}));
  EXPECT_TRUE(normalise({}, quantile_range({})).empty());
}

TEST(UnitRange, HugeValuesDoNotOverflow) {
  const float huge = std::numeric_limits<float>::max();
  const std::vector<float> values = {-huge, 0, huge};
  EXPECT_EQ(normalise(values, quantile_range(values)), (std::vector<float>{0, 0.5F, 1}));
}

TEST(UnitRange, NamesAValueThatIsNotFinite) {
  const std::vector<float> values = {1, std::numeric_limits<float>::infinity()};
  EXPECT_THROW(quantile_range(values), UserError);
}

}  // namespace
}  // namespace regroup
