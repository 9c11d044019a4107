#include "regroup/stats/condensed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "regroup/core/error.h"
#include "regroup/core/random.h"

namespace regroup {
namespace {

TEST(Condense, FewValuesStayThemselvesInRisingOrder) {
  const std::vector<float> values = {3, 1, 2, 1};
  const CondensedValues data = condense(values, 4);
  EXPECT_EQ(data.values, (std::vector<double>{1, 1, 2, 3}));
  EXPECT_EQ(data.counts, (std::vector<double>{1, 1, 1, 1}));
  EXPECT_EQ(data.total, 4);
}

TEST(Condense, ManyValuesKeepTheirNumberAndMean) {
  Stream stream(1, Purpose::synthetic);
  std::vector<float> values(10'000);
  for (float& value : values) value = static_cast<float>(stream.normal());
  const CondensedValues data = condense(values, 100);
  EXPECT_LE(data.values.size(), 126U);
  EXPECT_TRUE(std::is_sorted(data.values.begin(), data.values.end()));
  EXPECT_EQ(std::accumulate(data.counts.begin(), data.counts.end(), 0.0), 10'000);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 10'000;
  EXPECT_NEAR(std::inner_product(data.values.begin(), data.values.end(), data.counts.begin(), 0.0) / 10'000, mean,
              1e-9);
}

TEST(Condense, AFarValueIsNotDrawnIntoTheBulk) {
  std::vector<float> values(1000, 0.0F);
  values.back() = 1000;
  const CondensedValues data = condense(values, 10);
  EXPECT_EQ(data.values.back(), 1000);
  EXPECT_EQ(data.counts.back(), 1);
}

TEST(Condense, NoValuesGiveNoPoints) { EXPECT_TRUE(condense({}, 10).values.empty()); }

TEST(CheckFinite, NamesTheFirstOddValue) {
  const std::vector<float> values = {0, 1, std::numeric_limits<float>::quiet_NaN(), 2};
  try {
    check_finite(values);
    FAIL() << "a NaN went through";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("value 2 of 4"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace regroup
