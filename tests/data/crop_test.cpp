// Views that are cut out of images that are larger than them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "regroup/data/augment.h"
#include "regroup/data/photos.h"
#include "support/statistics.h"
#include "support/user_error.h"

namespace regroup {
namespace {

constexpr int height = 48, width = 64;

/// One image whose red tells the column and whose green tells the row.
Image coordinates() {
  Image image{{height, width}, {}};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (const int value : {3 * x, 4 * y, 100}) image.pixels.push_back(static_cast<std::uint8_t>(value));
  return image;
}

/// Views of it, each pixel's values from 0 to 255.
class Crops : public ::testing::Test {
 protected:
  explicit Crops(int side = 16) : side_(side), images_({3, side, side}, {coordinates()}, 0) {}

  std::vector<float> view(const Augmentation& augmentation, std::uint32_t epoch, std::size_t number = 0) const {
    const Augmenter augmenter(images_, {{0, 0, 0}, {1, 1, 1}}, PixelType::float32, 5);
    std::vector<std::byte> bytes(augmenter.output_bytes());
    const std::vector<Augmentation> views(number + 1, augmentation);
    const std::vector<std::byte*> out(number + 1, bytes.data());
    Augmenter::Scratch scratch;
    EXPECT_TRUE(augmenter.write(0, epoch, views, out, scratch));
    std::vector<float> values(bytes.size() / 4);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    for (float& value : values) value *= 255;
    return values;
  }

  float at(const std::vector<float>& view, int y, int x, int channel) const {
    return view[static_cast<std::size_t>((y * side_ + x) * 3 + channel)];
  }

  int side_;
  PhotosInMemory images_;
};

TEST_F(Crops, WithoutAugmentationTheMiddleIsShown) {
  const auto values = view(no_augmentation, 0);
  const int left = (width - side_) / 2, top = (height - side_) / 2;
  for (int y = 0; y < side_; ++y)
    for (int x = 0; x < side_; ++x) {
      EXPECT_NEAR(at(values, y, x, 0), 3 * (x + left), 1e-3);
      EXPECT_NEAR(at(values, y, x, 1), 4 * (y + top), 1e-3);
    }
}

TEST_F(Crops, AShiftAroundTheMiddleShowsWhatIsThereInsteadOfPadding) {
  for (std::uint32_t epoch = 0; epoch < 20; ++epoch) {
    const auto values = view({.shift = 6, .flip = Flip::none}, epoch);
    const int left = static_cast<int>(std::lround(at(values, 0, 0, 0) / 3));
    EXPECT_LE(std::abs(left - (width - side_) / 2), 6);
    for (int x = 0; x < side_; ++x) EXPECT_NEAR(at(values, 3, x, 0), 3 * (left + x), 1e-3);
  }
}

// The bound would be crossed by chance once in 100,000 seeds.
TEST_F(Crops, ARandomCropIsAnywhereWithTheSameProbability) {
  std::vector<int> rows(static_cast<std::size_t>(height - side_ + 1)),
      columns(static_cast<std::size_t>(width - side_ + 1));
  for (std::uint32_t epoch = 0; epoch < 4000; ++epoch) {
    const auto values = view({.flip = Flip::none, .crop = Crop::random}, epoch);
    ++rows.at(static_cast<std::size_t>(std::lround(at(values, 0, 0, 1) / 4)));
    ++columns.at(static_cast<std::size_t>(std::lround(at(values, 0, 0, 0) / 3)));
  }
  for (const auto& counts : {rows, columns}) {
    const auto statistic =
        testing::chi_square(counts, std::vector<double>(counts.size(), 1.0 / static_cast<double>(counts.size())));
    EXPECT_LT(statistic.value, testing::chi_square_bound(statistic.degrees));
  }
}

/// By the colours, which are linear in the place, the part that a view shows can be told. Near its edges the average
/// includes pixels beyond the image, so it is read in the middle.
struct Shown {
  double left, top, width, height;
};

TEST_F(Crops, AResizedCropHasTheAreaAndRatioThatItMay) {
  double area = 0;
  constexpr int epochs = 400;
  for (std::uint32_t epoch = 0; epoch < epochs; ++epoch) {
    const auto values = view({.flip = Flip::none, .crop = Crop::resized, .smallest_part = 0.2}, epoch);
    const int low = side_ / 4, high = side_ - 1 - side_ / 4;
    const double step_x = (at(values, 8, high, 0) - at(values, 8, low, 0)) / 3.0 / (high - low);
    const double step_y = (at(values, high, 8, 1) - at(values, low, 8, 1)) / 4.0 / (high - low);
    const Shown shown{at(values, 8, low, 0) / 3.0 + 0.5 - (low + 0.5) * step_x,
                      at(values, low, 8, 1) / 4.0 + 0.5 - (low + 0.5) * step_y, step_x * side_, step_y * side_};
    const double share = shown.width * shown.height / (height * width), ratio = shown.width / shown.height;
    EXPECT_GT(share, 0.2 * 0.93);
    EXPECT_LT(share, 1.05);
    EXPECT_GT(ratio, 0.75 * 0.95);
    EXPECT_LT(ratio, 4 / 3.0 * 1.05);
    EXPECT_GT(shown.left, -1);
    EXPECT_GT(shown.top, -1);
    EXPECT_LT(shown.left + shown.width, width + 1);
    EXPECT_LT(shown.top + shown.height, height + 1);
    area += share / epochs;
  }
  // Parts that do not fit are drawn again, so that the mean is below that of 0.2 to 1.
  EXPECT_GT(area, 0.45);
  EXPECT_LT(area, 0.62);
}

TEST_F(Crops, ViewsAndEpochsDiffer) {
  const Augmentation resized{.crop = Crop::resized, .distortion = {.jitter = 0.3}};
  std::set<std::vector<float>> seen;
  for (std::uint32_t epoch = 0; epoch < 10; ++epoch)
    for (std::size_t number = 0; number < 3; ++number) seen.insert(view(resized, epoch, number));
  EXPECT_EQ(seen.size(), 30U);
  EXPECT_EQ(view(resized, 4, 1), view(resized, 4, 1));
}

TEST_F(Crops, MirroringASizedCropMirrorsAllOfIt) {
  bool found = false;
  for (std::uint32_t epoch = 0; epoch < 20 && !found; ++epoch) {
    const auto plain = view({.flip = Flip::none, .crop = Crop::resized}, epoch);
    const auto mirrored = view({.flip = Flip::random, .crop = Crop::resized}, epoch);
    if (plain == mirrored) continue;
    found = true;
    for (int y = 0; y < side_; ++y)
      for (int x = 0; x < side_; ++x)
        for (int c = 0; c < 3; ++c) EXPECT_EQ(at(mirrored, y, x, c), at(plain, y, side_ - 1 - x, c));
  }
  EXPECT_TRUE(found);
}

TEST(Crop, GreyImagesAreNotResized) {
  const ImagesInMemory grey({1, 8, 8}, std::vector<std::uint8_t>(64));
  const Augmenter augmenter(grey, {{0.5F}, {0.5F}}, PixelType::float32, 0);
  EXPECT_EQ(user_error([&] { augmenter.check({.crop = Crop::resized}); }),
            "resized crops are for colour images, and these are grey; give --crop shift or random");
}

}  // namespace
}  // namespace regroup
