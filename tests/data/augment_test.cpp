#include "regroup/data/augment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include "data/made_images.h"
#include "regroup/core/random.h"
#include "support/statistics.h"
#include "support/user_error.h"

namespace regroup {
namespace {

using testing::chi_square;
using testing::chi_square_bound;

Normalisation some_normalisation(int channels) {
  Normalisation result;
  for (int c = 0; c < channels; ++c) {
    result.mean.push_back(0.3F + 0.1F * static_cast<float>(c));
    result.deviation.push_back(0.2F + 0.05F * static_cast<float>(c));
  }
  return result;
}

/// Of floats: themselves; of bfloat16: the floats of the same value.
std::vector<float> written(const Augmenter& augmenter, Augmentation augmentation, PixelType type, std::uint32_t sample,
                           std::uint32_t epoch, std::size_t view) {
  const std::size_t values = augmenter.images().shape().values();
  std::vector<std::byte> bytes(values * bytes_of(type));
  const std::vector<Augmentation> views(view + 1, augmentation);
  const std::vector<std::byte*> out(view + 1, bytes.data());  // the last one stays
  Augmenter::Scratch scratch;
  augmenter.write(sample, epoch, views, out, scratch);
  std::vector<float> result(values);
  for (std::size_t i = 0; i < values; ++i) {
    if (type == PixelType::float32) {
      std::memcpy(&result[i], &bytes[4 * i], 4);
    } else {
      std::uint16_t half;
      std::memcpy(&half, &bytes[2 * i], 2);
      result[i] = std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
    }
  }
  return result;
}

/// Pads the whole image, crops, mirrors and normalises in double.
std::vector<double> slow_view(const SampleSource& images, std::uint32_t sample, const Normalisation& normalisation,
                              Padding padding, int shift, int top, int left, bool mirrored) {
  const auto [channels, height, width, is_vector] = images.shape();
  EXPECT_FALSE(is_vector);
  SampleScratch scratch;
  const auto image = images.read(sample, scratch);
  const auto source = [&, width = width, channels = channels](int y, int x, int c) {
    return static_cast<double>(image[static_cast<std::size_t>((y * width + x) * channels + c)]);
  };
  const auto reflected = [](int i, int size) {
    i = std::abs(i);
    return i < size ? i : 2 * (size - 1) - i;
  };
  const int padded_height = height + 2 * shift, padded_width = width + 2 * shift;
  std::vector<double> padded;
  for (int y = -shift; y < height + shift; ++y)
    for (int x = -shift; x < width + shift; ++x)
      for (int c = 0; c < channels; ++c) {
        const bool inside = y >= 0 && y < height && x >= 0 && x < width;
        if (padding == Padding::reflect) {
          padded.push_back(source(reflected(y, height), reflected(x, width), c));
        } else {
          padded.push_back(inside ? source(y, x, c) : 0);
        }
      }
  EXPECT_EQ(padded.size(), static_cast<std::size_t>(padded_height * padded_width * channels));
  std::vector<double> result;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) {
        const int column = left + (mirrored ? width - 1 - x : x);
        const double value = padded[static_cast<std::size_t>(((top + y) * padded_width + column) * channels + c)];
        const auto channel = static_cast<std::size_t>(c);
        result.push_back((value / 255 - double{normalisation.mean[channel]}) /
                         double{normalisation.deviation[channel]});
      }
  return result;
}

struct Found {
  int top, left;
  bool mirrored;
};

bool is_near(const std::vector<float>& values, const std::vector<double>& expected, PixelType type) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double rounding = type == PixelType::float32 ? 0 : std::abs(expected[i]) / 256;
    if (!(std::abs(double{values[i]} - expected[i]) <= 2e-6 + rounding)) return false;
  }
  return true;
}

/// Which crop of the slow implementation the values are.
std::optional<Found> find_crop(const std::vector<float>& values, const SampleSource& images, std::uint32_t sample,
                               const Normalisation& normalisation, Padding padding, int shift, PixelType type) {
  for (int top = 0; top <= 2 * shift; ++top)
    for (int left = 0; left <= 2 * shift; ++left)
      for (const bool mirrored : {false, true}) {
        const auto expected = slow_view(images, sample, normalisation, padding, shift, top, left, mirrored);
        if (is_near(values, expected, type)) return Found{top, left, mirrored};
      }
  return std::nullopt;
}

TEST(Augmenter, EveryPixelIsThatOfASlowImplementation) {
  constexpr int shift = 2;
  for (int channels = 1; channels <= 4; ++channels) {
    const auto images = random_images(4, {channels, 5, 11});
    const Normalisation normalisation = some_normalisation(channels);
    for (const auto padding : {Padding::zero, Padding::reflect})
      for (const auto flip : {Flip::none, Flip::random, Flip::alternate})
        for (const auto type : {PixelType::float32, PixelType::bfloat16}) {
          const Augmenter augmenter(images, normalisation, type, 7);
          for (std::uint32_t sample = 0; sample < 4; ++sample)
            for (const std::size_t view : {0U, 1U, 2U}) {
              const auto values = written(augmenter, {shift, padding, flip}, type, sample, 3, view);
              const auto found = find_crop(values, images, sample, normalisation, padding, shift, type);
              ASSERT_TRUE(found) << channels << " channels, sample " << sample << ", view " << view;
              EXPECT_FALSE(flip == Flip::none && found->mirrored);
            }
        }
  }
}

TEST(Augmenter, TheLargestShiftStillLeavesAPixel) {
  constexpr int shift = 2;
  const auto images = random_images(60, {3, 4, 3});
  const Normalisation normalisation = some_normalisation(3);
  for (const auto padding : {Padding::zero, Padding::reflect}) {
    const Augmenter augmenter(images, normalisation, PixelType::float32, 8);
    for (std::uint32_t sample = 0; sample < 60; ++sample) {
      const auto values = written(augmenter, {shift, padding, Flip::random}, PixelType::float32, sample, 0, 0);
      EXPECT_TRUE(find_crop(values, images, sample, normalisation, padding, shift, PixelType::float32)) << sample;
    }
  }
}

TEST(Augmenter, WithoutAugmentationPixelsAreNormalisedInPlace) {
  const auto images = random_images(3, {3, 9, 5});
  const Normalisation normalisation = some_normalisation(3);
  const Augmenter augmenter(images, normalisation, PixelType::float32, 1);
  EXPECT_EQ(augmenter.output_bytes(), 3U * 9U * 5U * 4U);
  for (std::uint32_t sample = 0; sample < 3; ++sample) {
    const auto values = written(augmenter, no_augmentation, PixelType::float32, sample, 5, 0);
    EXPECT_TRUE(
        is_near(values, slow_view(images, sample, normalisation, Padding::zero, 0, 0, 0, false), PixelType::float32));
  }
}

TEST(Augmenter, BfloatIsTheRoundedFloat) {
  const auto images = random_images(20, {3, 6, 7});
  const Augmentation augmentation{1, Padding::reflect, Flip::random};
  const Augmenter floats(images, some_normalisation(3), PixelType::float32, 5);
  const Augmenter halves(images, some_normalisation(3), PixelType::bfloat16, 5);
  for (std::uint32_t sample = 0; sample < 20; ++sample) {
    auto expected = written(floats, augmentation, PixelType::float32, sample, 2, 1);
    std::transform(expected.begin(), expected.end(), expected.begin(), slow_bfloat);
    EXPECT_EQ(written(halves, augmentation, PixelType::bfloat16, sample, 2, 1), expected);
  }
}

TEST(Augmenter, WritesNothingBehindTheImage) {
  const auto images = random_images(2, {3, 3, 5});
  for (const auto type : {PixelType::float32, PixelType::bfloat16}) {
    const Augmenter augmenter(images, some_normalisation(3), type, 5);
    std::vector<std::byte> out(augmenter.output_bytes() + 64, std::byte{0xa5});
    const Augmentation augmentation{2, Padding::reflect, Flip::random};
    std::byte* const first = out.data();
    Augmenter::Scratch scratch;
    for (std::uint32_t epoch = 0; epoch < 20; ++epoch)
      augmenter.write(1, epoch, std::span(&augmentation, 1), std::span(&first, 1), scratch);
    EXPECT_EQ(std::count(out.end() - 64, out.end(), std::byte{0xa5}), 64);
  }
}

/// Images of 16x16 in which every pixel has a value of its own, so that a few pixels tell how one was changed.
class Places {
 public:
  static constexpr int shift = 4;

  Places(std::size_t count, Flip flip, std::uint64_t seed)
      : images_({1, 16, 16}, counting(count * 256)),
        augmentation_{shift, Padding::zero, flip},
        augmenter_(images_, {{0}, {1}}, PixelType::float32, seed) {}

  Found of(std::uint32_t sample, std::uint32_t epoch, std::size_t view) const {
    const auto values = written(augmenter_, augmentation_, PixelType::float32, sample, epoch, view);
    const auto at = [&](std::size_t y, std::size_t x) {
      return static_cast<int>(std::lround(values[16 * y + x] * 255));
    };
    const bool mirrored = at(8, 8) > at(8, 9);
    return {at(8, 8) / 16 - 8 + shift, at(8, 8) % 16 - (mirrored ? 7 : 8) + shift, mirrored};
  }

 private:
  static std::vector<std::uint8_t> counting(std::size_t count) {
    std::vector<std::uint8_t> bytes(count);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
    return bytes;
  }

  ImagesInMemory images_;
  Augmentation augmentation_;
  Augmenter augmenter_;
};

constexpr int places = 2 * Places::shift + 1;

void expect_uniform(const std::vector<int>& counts, const char* what) {
  const auto statistic =
      chi_square(counts, std::vector<double>(counts.size(), 1.0 / static_cast<double>(counts.size())));
  EXPECT_LT(statistic.value, chi_square_bound(statistic.degrees)) << what;
}

// The statistics are at fixed seeds; each bound would be crossed by chance once in 100,000 seeds.
TEST(Augmenter, PlacesAndFlipsAreUniformTogether) {
  constexpr std::uint32_t count = 4000;
  const Places images(count, Flip::random, 21);
  std::vector<int> joint(places * places * 2), views(places * places * 4), epochs(places * places * 4),
      neighbours(places * places * 4);
  // The places of two views downward, and their flips.
  const auto pair = [](Found one, Found other) {
    return static_cast<std::size_t>(((one.top * places + other.top) * 2 + one.mirrored) * 2 + other.mirrored);
  };
  Found before = images.of(count - 1, 1, 0);
  for (std::uint32_t sample = 0; sample < count; ++sample) {
    const Found found = images.of(sample, 1, 0);
    ++joint.at(static_cast<std::size_t>((found.top * places + found.left) * 2 + found.mirrored));
    ++views.at(pair(found, images.of(sample, 1, 1)));
    ++epochs.at(pair(found, images.of(sample, 2, 0)));
    ++neighbours.at(pair(found, before));
    before = found;
  }
  expect_uniform(joint, "down, right and mirrored");
  expect_uniform(views, "two views");
  expect_uniform(epochs, "two epochs");
  expect_uniform(neighbours, "two samples");
}

TEST(Augmenter, AlternateFlipsMirrorARandomHalfAndThenTheOther) {
  constexpr std::uint32_t count = 4000;
  const Places images(count, Flip::alternate, 22);
  std::vector<int> joint(places * 2);
  for (std::uint32_t sample = 0; sample < count; ++sample) {
    const Found found = images.of(sample, 0, 0);
    ++joint.at(static_cast<std::size_t>(found.top * 2 + found.mirrored));
    EXPECT_EQ(images.of(sample, 0, 1).mirrored, found.mirrored);
    EXPECT_EQ(images.of(sample, 1, 0).mirrored, !found.mirrored);
    EXPECT_EQ(images.of(sample, 8, 0).mirrored, found.mirrored);
    EXPECT_EQ(images.of(sample, 9, 1).mirrored, !found.mirrored);
  }
  expect_uniform(joint, "down and mirrored");
}

TEST(Augmenter, TheKindOfFlipDoesNotChangeThePlaces) {
  const Places plain(50, Flip::none, 23), random(50, Flip::random, 23), alternate(50, Flip::alternate, 23);
  for (std::uint32_t sample = 0; sample < 50; ++sample) {
    const Found found = plain.of(sample, 4, 1);
    EXPECT_EQ(random.of(sample, 4, 1).left, found.left);
    EXPECT_EQ(alternate.of(sample, 4, 1).top, found.top);
  }
}

TEST(Augmenter, AViewDoesNotDependOnTheAugmentationsOfTheOthers) {
  const auto images = random_images(20, {3, 8, 8});
  const Augmenter augmenter(images, some_normalisation(3), PixelType::bfloat16, 6);
  const Augmentation weak{1, Padding::zero, Flip::none}, strong{5, Padding::reflect, Flip::random};
  const std::vector<Augmentation> mixed{weak, strong, no_augmentation, weak};
  std::vector<std::vector<std::byte>> views(mixed.size(), std::vector<std::byte>(augmenter.output_bytes()));
  std::vector<std::byte*> out;
  for (auto& view : views) out.push_back(view.data());
  Augmenter::Scratch scratch;
  for (std::uint32_t sample = 0; sample < 20; ++sample) {
    augmenter.write(sample, 2, mixed, out, scratch);
    const auto together = views;
    for (std::size_t v = 0; v < mixed.size(); ++v) {
      const std::vector<Augmentation> alike(mixed.size(), mixed[v]);
      augmenter.write(sample, 2, alike, out, scratch);
      EXPECT_TRUE(views[v] == together[v]) << "sample " << sample << ", view " << v;
    }
  }
}

TEST(Augmenter, SaysWhatDoesNotSuit) {
  const auto images = random_images(1, {3, 32, 28});
  const auto refusal = [&](const Normalisation& normalisation, int shift) {
    return user_error([&] {
      const Augmenter augmenter(images, normalisation, PixelType::float32, 0);
      augmenter.check({shift, Padding::zero, Flip::none});
    });
  };
  EXPECT_EQ(refusal(some_normalisation(3), 28), "a shift of 28 pixels does not suit images of 28x32; give 0 to 27");
  EXPECT_EQ(refusal(some_normalisation(3), -1), "a shift of -1 pixels does not suit images of 28x32; give 0 to 27");
  EXPECT_EQ(refusal(some_normalisation(1), 4),
            "1 means and 1 deviations for images of 3 channels; give one of each a channel");
  EXPECT_EQ(refusal({{0, 0, 0}, {1, 1, 0}}, 4),
            "channel 2 cannot be normalised by mean 0 and deviation 0; give finite numbers, the deviation positive");
  EXPECT_EQ(refusal({{0, 0, 0}, {INFINITY, 1, 1}}, 4),
            "channel 0 cannot be normalised by mean 0 and deviation inf; give finite numbers, the deviation positive");
  EXPECT_EQ(refusal({{0, NAN, 0}, {1, 1, 1}}, 4),
            "channel 1 cannot be normalised by mean nan and deviation 1; give finite numbers, the deviation positive");
  EXPECT_EQ(user_error([] {
              const auto five = random_images(1, {5, 2, 2});
              const Augmenter augmenter(five, some_normalisation(5), PixelType::float32, 0);
            }),
            "images have 5 channels; give images of 1 to 4");
}

TEST(Augmenter, RefusesWhatIsNotThere) {
  const auto images = random_images(2, {1, 3, 3});
  const Augmenter augmenter(images, some_normalisation(1), PixelType::float32, 0);
  std::vector<std::byte> out(augmenter.output_bytes());
  const auto write = [&](std::uint32_t sample, const std::vector<Augmentation>& views) {
    const std::vector<std::byte*> places{out.data()};
    Augmenter::Scratch scratch;
    augmenter.write(sample, 0, views, places, scratch);
  };
  write(1, {no_augmentation});
  EXPECT_THROW(write(2, {no_augmentation}), std::out_of_range);
  EXPECT_THROW(write(0, {no_augmentation, no_augmentation}), std::invalid_argument) << "a place for one view";
  EXPECT_THROW(write(0, {{3, Padding::zero, Flip::none}}), UserError) << "nothing of the image would stay";
}

}  // namespace
}  // namespace regroup
