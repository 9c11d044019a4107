#include "regroup/data/resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "image_testing.h"

namespace regroup {
namespace {

Bytes resized(const Image& image, ImageSize size) {
  Bytes out(size.pixels() * 3);
  resize_to_cover(image, size, out);
  return out;
}

/// The same in the obvious way: for each new value, the weighted mean over all old ones.
std::vector<double> slow_resized(const Image& image, ImageSize size) {
  const auto [old_height, old_width] = image.size;
  const double step =
      std::min(old_height / static_cast<double>(size.height), old_width / static_cast<double>(size.width));
  const double reach = std::max(1.0, step);
  std::vector<double> result;
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const double centre_y = old_height / 2.0 + (y + 0.5 - size.height / 2.0) * step;
      const double centre_x = old_width / 2.0 + (x + 0.5 - size.width / 2.0) * step;
      double sums[3] = {}, weights = 0;
      for (int v = 0; v < old_height; ++v) {
        for (int u = 0; u < old_width; ++u) {
          const double weight = std::max(0.0, 1 - std::abs(v + 0.5 - centre_y) / reach) *
                                std::max(0.0, 1 - std::abs(u + 0.5 - centre_x) / reach);
          weights += weight;
          for (int c = 0; c < 3; ++c)
            sums[c] += weight * image.pixels[static_cast<std::size_t>((v * old_width + u) * 3 + c)];
        }
      }
      for (const double sum : sums) result.push_back(sum / weights);
    }
  }
  return result;
}

TEST(Resize, IsTheWeightedMeanThatItSays) {
  const ImageSize sizes[] = {{1, 1}, {1, 9}, {7, 7}, {8, 5}, {20, 31}, {40, 3}};
  std::uint32_t number = 0;
  for (const ImageSize from : sizes) {
    const auto image = random_image(from, ++number);
    for (const ImageSize to : sizes) {
      const auto fast = resized(image, to);
      const auto slow = slow_resized(image, to);
      ASSERT_EQ(fast.size(), slow.size());
      for (std::size_t i = 0; i < fast.size(); ++i) {
        // Half for the rounding, and what weights of 14 bits add to it.
        ASSERT_NEAR(fast[i], slow[i], 0.52)
            << from.height << "x" << from.width << " to " << to.height << "x" << to.width << " at " << i;
      }
    }
  }
}

TEST(Resize, AnImageOfTheRightSizeStaysAsItIs) {
  const auto image = random_image({12, 17}, 1);
  EXPECT_EQ(resized(image, image.size), image.pixels);
}

TEST(Resize, OneColourStaysThatColour) {
  for (const ImageSize from : {ImageSize{1, 1}, ImageSize{3, 200}, ImageSize{90, 61}}) {
    const auto expected = plain_image({28, 28}, 255, 0, 77).pixels;
    EXPECT_EQ(resized(plain_image(from, 255, 0, 77), {28, 28}), expected);
  }
}

TEST(Resize, TheMiddleIsKeptAndTheEndsAreCutOff) {
  // Red, green and blue squares side by side: the green one is left, but for its blurred edges.
  Image image{{20, 60}, {}};
  for (int y = 0; y < 20; ++y) {
    for (int x = 0; x < 60; ++x) {
      for (int c = 0; c < 3; ++c) image.pixels.push_back(x / 20 == c ? 255 : 0);
    }
  }
  const auto middle = resized(image, {10, 10});
  for (std::size_t x = 0; x < 10; ++x) EXPECT_GE(middle[x * 3 + 1], x == 0 || x == 9 ? 200 : 255) << x;
  const auto same = resized(image, {20, 20});
  EXPECT_EQ(same, plain_image({20, 20}, 0, 255, 0).pixels);
}

TEST(Resize, WrongSizesAreRefused) {
  Bytes out(27);
  EXPECT_THROW(resize_to_cover(random_image({2, 2}, 1), {3, 4}, out), std::invalid_argument);
  EXPECT_THROW(resize_to_cover(Image{{2, 2}, Bytes(11)}, {3, 3}, out), std::invalid_argument);
  EXPECT_THROW(resize_to_cover(Image{}, {3, 3}, out), std::invalid_argument);
}

}  // namespace
}  // namespace regroup
