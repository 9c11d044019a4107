#include "regroup/noise/features.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace regroup {
namespace {

TEST(PixelFeatures, AreTheBytesAsTheyAre) {
  const std::vector<std::uint8_t> pixels = {0, 1, 2, 127, 128, 255};
  const auto features = pixel_features(pixels, 2);
  ASSERT_EQ(features.size, 3U);
  std::vector<float> row(3);
  features.read(0, row);
  EXPECT_EQ(row, (std::vector<float>{0, 1, 2}));
  features.read(1, row);
  EXPECT_EQ(row, (std::vector<float>{127, 128, 255}));
}

TEST(PixelFeatures, RefusesPixelsThatAreNotThatManyImages) {
  const std::vector<std::uint8_t> pixels(12);
  EXPECT_THROW(pixel_features(pixels, 5), std::invalid_argument);
  EXPECT_THROW(pixel_features(pixels, 0), std::invalid_argument);
}

}  // namespace
}  // namespace regroup
