#include "regroup/data/distort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "data/made_images.h"

namespace regroup {
namespace {

using Bytes = std::vector<std::uint8_t>;

const Bytes grey_fill{128, 128, 128};

Pixels pixels(Bytes& values, int channels, int height, int width) { return {values, channels, height, width}; }

double slow_grey(const Bytes& values, std::size_t i) {
  return 0.299 * values[i] + 0.587 * values[i + 1] + 0.114 * values[i + 2];
}

std::uint8_t slow_round(double value) {
  return static_cast<std::uint8_t>(std::clamp(std::floor(value + 0.5), 0.0, 255.0));
}

/// At most one apart, where a half may be rounded either way.
void expect_near(const Bytes& values, const Bytes& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1) << i;
}

TEST(Distort, BrightnessContrastAndSaturationMoveAwayFromBlackMeanAndGrey) {
  const Bytes before = random_bytes(5 * 7 * 3);
  double mean = 0;
  for (std::size_t i = 0; i < before.size(); i += 3) mean += slow_grey(before, i) / 35;
  for (const double factor : {0.0, 0.4, 1.0, 1.7}) {
    Bytes bright = before, contrasted = before, saturated = before, expected_bright, expected_contrast, expected_colour;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const double grey = slow_grey(before, i - i % 3);
      expected_bright.push_back(slow_round(before[i] * factor));
      expected_contrast.push_back(slow_round(mean + (before[i] - mean) * factor));
      expected_colour.push_back(slow_round(grey + (before[i] - grey) * factor));
    }
    change_brightness(pixels(bright, 3, 5, 7), factor);
    change_contrast(pixels(contrasted, 3, 5, 7), factor);
    change_saturation(pixels(saturated, 3, 5, 7), factor);
    expect_near(bright, expected_bright);
    expect_near(contrasted, expected_contrast);
    expect_near(saturated, expected_colour);
  }
}

TEST(Distort, AFactorOfOneAndNoTurnLeaveAnImageAsItIs) {
  const Bytes before = random_bytes(6 * 6 * 3);
  Bytes values = before, scratch;
  const Pixels image = pixels(values, 3, 6, 6);
  change_brightness(image, 1);
  change_contrast(image, 1);
  change_saturation(image, 1);
  change_sharpness(image, 1, scratch);
  turn_hue(image, 0);
  posterise(image, 8);
  solarise(image, 256);
  warp(image, {}, grey_fill, scratch);
  EXPECT_EQ(values, before);
}

TEST(Distort, SharpnessMovesAwayFromTheBlurOfTheNeighbours) {
  Bytes values(9, 13), scratch;
  values[4] = 130;
  change_sharpness(pixels(values, 1, 3, 3), 0, scratch);
  Bytes expected(9, 13);
  expected[4] = slow_round((8 * 13 + 5 * 130) / 13.0);
  EXPECT_EQ(values, expected);
}

TEST(Distort, HueTurnsRoundAndKeepsBrightness) {
  const Bytes before = {150, 110, 100, 110, 120, 135};
  for (const double turns : {0.1, -0.2, 0.5}) {
    Bytes values = before;
    turn_hue(pixels(values, 3, 1, 2), turns);
    EXPECT_NE(values, before);
    for (const std::size_t i : {0U, 3U}) EXPECT_NEAR(slow_grey(values, i), slow_grey(before, i), 3) << turns;
  }
  Bytes round = before;
  turn_hue(pixels(round, 3, 1, 2), 1);
  expect_near(round, before);
}

TEST(Distort, StretchingReachesBlackAndWhiteInEachChannel) {
  Bytes values = {50, 7, 110, 7, 150, 7};
  stretch_contrast(pixels(values, 2, 1, 3));
  EXPECT_EQ(values, (Bytes{0, 7, 153, 7, 255, 7}));
}

TEST(Distort, EqualisingMakesHistogramsEven) {
  Bytes values(64 * 64);
  Stream stream(1, Purpose::synthetic);
  for (auto& value : values) value = static_cast<std::uint8_t>(stream.below(8) * stream.below(8));
  const Bytes before = values;
  equalise(pixels(values, 1, 64, 64));
  // The order of values stays, and the median comes to the middle.
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (before[i] <= before[0]) {
      EXPECT_LE(values[i], values[0]);
    }
  }
  Bytes sorted = values;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_NEAR(sorted[values.size() / 2], 128, 24);
  EXPECT_EQ(sorted.back(), 255);
}

TEST(Distort, PosterisingKeepsUpperBitsAndSolarisingInvertsFromTheThreshold) {
  Bytes posterised = {0, 15, 16, 255}, solarised = {0, 99, 100, 255};
  posterise(pixels(posterised, 1, 2, 2), 4);
  solarise(pixels(solarised, 1, 2, 2), 100);
  EXPECT_EQ(posterised, (Bytes{0, 0, 16, 240}));
  EXPECT_EQ(solarised, (Bytes{0, 99, 155, 0}));
}

TEST(Distort, ATransformTakesPixelsFromWhereItSays) {
  const int height = 5, width = 6;
  const Bytes before = random_bytes(5 * 6 * 3);
  const Affine turned{.a = 0.8, .b = -0.6, .c = 0.7, .d = 0.6, .e = 0.8, .f = -1.1};
  const auto at = [&](int y, int x, int c) {
    const bool inside = y >= 0 && y < height && x >= 0 && x < width;
    return inside ? double{static_cast<double>(before[static_cast<std::size_t>((y * width + x) * 3 + c)])} : 128.0;
  };
  Bytes values = before, expected, scratch;
  warp(pixels(values, 3, height, width), turned, grey_fill, scratch);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c) {
        const double dx = x - 2.5, dy = y - 2.0;
        const double from_x = turned.a * dx + turned.b * dy + turned.c + 2.5;
        const double from_y = turned.d * dx + turned.e * dy + turned.f + 2.0;
        const int left = static_cast<int>(std::floor(from_x)), top = static_cast<int>(std::floor(from_y));
        const double right = from_x - left, low = from_y - top;
        expected.push_back(slow_round((1 - low) * ((1 - right) * at(top, left, c) + right * at(top, left + 1, c)) +
                                      low * ((1 - right) * at(top + 1, left, c) + right * at(top + 1, left + 1, c))));
      }
  expect_near(values, expected);
}

TEST(Distort, ABlotIsASquareThatMayStandOverTheEdge) {
  Bytes values(4 * 5, 9);
  blot_out(pixels(values, 1, 4, 5), 4, 0, 3, Bytes{1});
  EXPECT_EQ(values, (Bytes{9, 9, 9, 1, 1, 9, 9, 9, 1, 1, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}));
}

TEST(Distort, IsAFunctionOfItsStream) {
  const Bytes before = random_bytes(16 * 16 * 3);
  const Distortion strong{.jitter = 0.4, .operations = 2, .strength = 0.6, .cutout = 0.3};
  std::set<Bytes> seen;
  for (std::uint32_t sample = 0; sample < 40; ++sample) {
    Bytes first = before, second = before, scratch;
    Stream one(1, Purpose::distort, 0, sample), same(1, Purpose::distort, 0, sample);
    distort(pixels(first, 3, 16, 16), strong, grey_fill, one, scratch);
    distort(pixels(second, 3, 16, 16), strong, grey_fill, same, scratch);
    EXPECT_EQ(first, second);
    seen.insert(first);
  }
  EXPECT_EQ(seen.size(), 40U);
}

/// Every operation at every strength, on images of one pixel too: under the sanitizers this looks for bad accesses.
TEST(Distort, TakesImagesOfAnySize) {
  for (const auto& [channels, height, width, is_vector] :
       std::vector<SampleShape>{{1, 1, 1}, {3, 1, 9}, {3, 2, 2}, {1, 7, 3}}) {
    Bytes values = random_bytes(SampleShape{channels, height, width, is_vector}.values()), scratch;
    for (std::uint32_t sample = 0; sample < 200; ++sample) {
      Stream stream(2, Purpose::distort, 0, sample);
      const Distortion all{.jitter = 1, .operations = 3, .strength = sample / 199.0, .cutout = 1};
      distort(pixels(values, channels, height, width), all, grey_fill, stream, scratch);
    }
  }
}

}  // namespace
}  // namespace regroup
