#include "regroup/data/resample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "image_testing.h"

namespace regroup {
namespace {

Bytes resampled(const ImageView& image, const Rectangle& from, ImageSize size) {
  Bytes out(size.pixels() * 3);
  ResampleScratch scratch;
  resample(image, from, size, out, scratch);
  return out;
}

/// The same in the obvious way: for each new value, the weighted mean over all old ones.
std::vector<double> slow_resampled(const Image& image, const Rectangle& from, ImageSize size) {
  const double step_y = from.height / size.height, step_x = from.width / size.width;
  const auto weight = [](int place, double centre, double step) {
    return std::max(0.0, 1 - std::abs(place + 0.5 - centre) / std::max(1.0, step));
  };
  std::vector<double> result;
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      double sums[3] = {}, weights = 0;
      for (int v = 0; v < image.size.height; ++v) {
        for (int u = 0; u < image.size.width; ++u) {
          const double w =
              weight(v, from.top + (y + 0.5) * step_y, step_y) * weight(u, from.left + (x + 0.5) * step_x, step_x);
          weights += w;
          for (int c = 0; c < 3; ++c)
            sums[c] += w * image.pixels[static_cast<std::size_t>((v * image.size.width + u) * 3 + c)];
        }
      }
      for (const double sum : sums) result.push_back(sum / weights);
    }
  }
  return result;
}

TEST(Resample, IsTheWeightedMeanThatItSays) {
  struct Case {
    ImageSize image;
    Rectangle from;
  };
  const Case cases[] = {{{30, 41}, {0, 0, 30, 41}},     {{30, 41}, {3.25, 7.5, 20.5, 30.125}},
                        {{1, 1}, {0, 0, 1, 1}},         {{2, 50}, {0.5, 0.1, 1, 49.9}},
                        {{33, 9}, {10, 2, 0.25, 0.5}},  {{25, 35}, {24, 34, 1, 1}},
                        {{90, 70}, {0.5, 0.5, 89, 69}}, {{7, 90}, {1.0 / 3, 2.0 / 3, 20.0 / 3, 80}}};
  std::uint32_t number = 0;
  for (const auto& [shape, from] : cases) {
    const auto image = random_image(shape, ++number);
    for (const ImageSize to : {ImageSize{1, 1}, ImageSize{3, 40}, ImageSize{16, 16}, ImageSize{37, 5}}) {
      const auto fast = resampled(image, from, to);
      const auto slow = slow_resampled(image, from, to);
      ASSERT_EQ(fast.size(), slow.size());
      for (std::size_t i = 0; i < fast.size(); ++i)
        ASSERT_NEAR(fast[i], slow[i], 0.6) << shape.width << " to " << to.height << "x" << to.width << " at " << i;
    }
  }
}

TEST(Resample, RowsMayLieApart) {
  const auto image = random_image({20, 30}, 1);
  // The lower right quarter, as a view of its own.
  Image part{{10, 15}, {}};
  for (std::ptrdiff_t y = 10; y < 20; ++y) {
    const auto row = image.pixels.begin() + (y * 30 + 15) * 3;
    part.pixels.insert(part.pixels.end(), row, row + 45);
  }
  ImageView view(image);
  view.pixels += std::size_t{3} * (10 * 30 + 15);
  view.size = part.size;
  EXPECT_EQ(resampled(view, {0, 0, 10, 15}, {7, 7}), resampled(part, {0, 0, 10, 15}, {7, 7}));
}

TEST(Resample, OneColourStaysThatColourAndWholePixelsStayAsTheyAre) {
  const auto plain = plain_image({301, 402}, 255, 0, 77);
  EXPECT_EQ(resampled(plain, {0.3, 0.7, 300.1, 399.9}, {28, 28}), plain_image({28, 28}, 255, 0, 77).pixels);
  const auto image = random_image({12, 17}, 2);
  EXPECT_EQ(resampled(image, {0, 0, 12, 17}, image.size), image.pixels);
}

TEST(Resample, AnOldScratchChangesNothing) {
  const auto large = random_image({60, 80}, 3), small = random_image({9, 6}, 4);
  ResampleScratch scratch;
  Bytes out(16 * 16 * 3);
  resample(large, {0, 0, 60, 80}, {16, 16}, out, scratch);
  resample(small, {0, 0, 9, 6}, {16, 16}, out, scratch);
  EXPECT_EQ(out, resampled(small, {0, 0, 9, 6}, {16, 16}));
}

TEST(Resample, WhatIsOutsideOrHasNoRoomIsRefused) {
  const auto image = random_image({4, 6}, 5);
  for (const Rectangle from : {Rectangle{-0.1, 0, 4, 6}, Rectangle{0, 0, 4.1, 6}, Rectangle{0, 1, 4, 6},
                               Rectangle{0, 0, 0, 6}, Rectangle{0, 0, 4, std::nan("")}})
    EXPECT_THROW(resampled(image, from, {2, 2}), std::invalid_argument);
  EXPECT_THROW(resampled(Image{}, {0, 0, 1e-9, 1e-9}, {2, 2}), std::invalid_argument);
  Bytes out(11);
  ResampleScratch scratch;
  EXPECT_THROW(resample(image, {0, 0, 4, 6}, {2, 2}, out, scratch), std::invalid_argument);
  EXPECT_THROW(resample(image, {0, 0, 4, 6}, {0, 2}, {}, scratch), std::invalid_argument);
}

}  // namespace
}  // namespace regroup
