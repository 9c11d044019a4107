#include "regroup/noise/features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace regroup {
namespace {

TEST(PixelFeatures, EachChannelHasMeanZeroAndDeviationOne) {
  // Two images of three pixels with two channels; the second channel is ten times the first.
  const std::vector<std::uint8_t> pixels = {1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60};
  const auto features = pixel_features(pixels, 2, 2);
  ASSERT_EQ(features.size, 6U);
  std::vector<float> first(6), second(6);
  features.read(0, first);
  features.read(1, second);
  const double deviation = std::sqrt(35.0 / 12);  // of 1 .. 6
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_FLOAT_EQ(first[2 * i], static_cast<float>((1 + static_cast<double>(i) - 3.5) / deviation));
    EXPECT_FLOAT_EQ(second[2 * i], static_cast<float>((4 + static_cast<double>(i) - 3.5) / deviation));
    EXPECT_FLOAT_EQ(first[2 * i], first[2 * i + 1]);
    EXPECT_FLOAT_EQ(second[2 * i], second[2 * i + 1]);
  }
}

TEST(PixelFeatures, AConstantChannelIsZero) {
  const std::vector<std::uint8_t> pixels(12, 200);
  const auto features = pixel_features(pixels, 3, 1);
  std::vector<float> row(4, 1.0F);
  features.read(2, row);
  EXPECT_EQ(row, std::vector<float>(4, 0.0F));
}

TEST(PixelFeatures, RefusesPixelsThatAreNotThatManyImages) {
  const std::vector<std::uint8_t> pixels(12);
  EXPECT_THROW(pixel_features(pixels, 5, 1), std::invalid_argument);
  EXPECT_THROW(pixel_features(pixels, 4, 2), std::invalid_argument);
  EXPECT_THROW(pixel_features(pixels, 0, 1), std::invalid_argument);
}

}  // namespace
}  // namespace regroup
