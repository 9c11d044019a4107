#include "regroup/data/photo.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>

#include "regroup/core/error.h"
#include "regroup/core/parallel.h"
#include "regroup/data/image_file.h"
#include "webp_testing.h"

namespace regroup {
namespace {

Image photo(const Bytes& bytes, int short_side) {
  PhotoScratch scratch;
  Image image;
  decode_photo(bytes, "f", short_side, scratch, image);
  return image;
}

/// Waves of several lengths, as photos have them, and no grain.
Image smooth_image(ImageSize size) {
  Image image{size, {}};
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      for (const double phase : {0.0, 1.0, 2.0}) {
        const double wave =
            std::sin(x * 0.021 + phase) + std::cos(y * 0.034 - phase) + std::sin((x + 2 * y) * 0.03) / 2;
        image.pixels.push_back(static_cast<std::uint8_t>(128 + 45 * wave));
      }
    }
  }
  return image;
}

double mean_difference(const Image& a, const Image& b) {
  if (a.size != b.size || a.pixels.size() != b.pixels.size()) return 256;
  double sum = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) sum += std::abs(int{a.pixels[i]} - int{b.pixels[i]});
  return sum / static_cast<double>(a.pixels.size());
}

/// The whole image decoded, then scaled.
Image slow_photo(const Bytes& bytes, ImageSize size) {
  const Image whole = decode_image(bytes, "f");
  Image image;
  image.reshape(size);
  ResampleScratch scratch;
  resample(whole, {0, 0, static_cast<double>(whole.size.height), static_cast<double>(whole.size.width)}, size,
           image.pixels, scratch);
  return image;
}

TEST(Photo, TheShorterSideIsExactAndTheAspectStays) {
  EXPECT_EQ(photo_size({480, 640}, 256), (ImageSize{256, 341}));
  EXPECT_EQ(photo_size({640, 480}, 256), (ImageSize{341, 256}));
  EXPECT_EQ(photo_size({100, 100}, 256), (ImageSize{256, 256}));
  EXPECT_EQ(photo_size({3, 1000}, 10), (ImageSize{10, 20}));
  EXPECT_EQ(photo_size({65'500, 1}, 4096), (ImageSize{8192, 4096}));
  EXPECT_EQ(photo_size({480, 2000}, 0), (ImageSize{480, 2000}));
  EXPECT_EQ(photo(png_bytes(random_image({48, 64}, 1)), 24).size, (ImageSize{24, 32}));
  EXPECT_EQ(photo(png_bytes(random_image({9, 6}, 1)), 24).size, (ImageSize{36, 24}));
}

TEST(Photo, WithoutASizeOrWithItsOwnItIsLeftAsItIs) {
  const auto image = random_image({48, 64}, 2);
  EXPECT_EQ(photo(png_bytes(image), 0).pixels, image.pixels);
  EXPECT_EQ(photo(png_bytes(image), 48).pixels, image.pixels);
}

TEST(Photo, TheMiddleOfALongOneIsKept) {
  // Five squares side by side: of the outer two nothing is left, of the next two a half.
  Image image{{20, 100}, {}};
  for (int i = 0; i < 20 * 100; ++i)
    image.pixels.insert(image.pixels.end(), 3, static_cast<std::uint8_t>(i % 100 / 20 * 50));
  const auto cut = photo(png_bytes(image), 20);
  ASSERT_EQ(cut.size, (ImageSize{20, 40}));
  for (std::size_t x = 0; x < 40; ++x) EXPECT_EQ(cut.pixels[3 * x], x < 10 ? 50 : x < 30 ? 100 : 150) << x;
}

TEST(Photo, ALowerResolutionGivesNearlyTheSamePicture) {
  const auto image = smooth_image({600, 805});
  for (const auto& bytes : {jpeg_bytes(image), jpeg_bytes(image, true), lossy_webp_bytes(image)}) {
    for (const int side : {20, 75, 76, 150, 299, 300, 301, 500}) {
      const auto fast = photo(bytes, side);
      const auto slow = slow_photo(bytes, photo_size(image.size, side));
      EXPECT_EQ(fast.size, slow.size);
      EXPECT_LT(mean_difference(fast, slow), 1.0) << side;
    }
  }
}

TEST(Photo, GreyAndInksAreScaledAsWell) {
  const auto grey = photo(jpeg_bytes({64, 64}, 1, Bytes(64 * 64, 77)), 16);
  EXPECT_LT(mean_difference(grey, plain_image({16, 16}, 77, 77, 77)), 1.1);
  Bytes inks;
  for (int i = 0; i < 64 * 64; ++i) inks.insert(inks.end(), {200, 100, 40, 150});
  EXPECT_LT(mean_difference(photo(jpeg_bytes({64, 64}, 4, inks), 16), plain_image({16, 16}, 118, 59, 24)), 2);
}

TEST(Photo, IsTurnedUpright) {
  // Left dark, right bright; turned to the right, the dark half is above.
  Image image{{40, 80}, {}};
  for (int i = 0; i < 40 * 80; ++i) image.pixels.insert(image.pixels.end(), 3, i % 80 < 40 ? 10 : 240);
  const Bytes block = {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0};
  const auto webp = extended_webp(image.size, 0x08, webp_bytes(image), webp_chunk("EXIF", block));
  const auto turned = photo(webp, 10);
  ASSERT_EQ(turned.size, (ImageSize{20, 10}));
  EXPECT_EQ(turned.pixels.front(), 10);
  EXPECT_EQ(turned.pixels.back(), 240);
  EXPECT_EQ(photo(webp, 0).size, (ImageSize{80, 40}));
}

TEST(Photo, TheMemoryOfAVeryLargeImageIsGivenBack) {
  constexpr ImageSize size{5000, 5000};
  const auto bytes = png_file(size, 1, 0, Bytes(std::size_t{5000} * (1 + 625)));
  PhotoScratch scratch;
  Image image;
  decode_photo(bytes, "f", 10, scratch, image);
  EXPECT_EQ(image.pixels, Bytes(300));
  EXPECT_LT(scratch.decoded.pixels.capacity(), 3 * size.pixels());
}

TEST(Photo, AnOldScratchChangesNothing) {
  const TemporaryFolder folder;
  PhotoScratch scratch;
  Image image;
  for (const ImageSize size : {ImageSize{90, 70}, ImageSize{8, 12}, ImageSize{300, 200}}) {
    const auto bytes = jpeg_bytes(smooth_image(size));
    read_photo(folder.write("f.jpg", bytes), 32, scratch, image);
    const auto fresh = photo(bytes, 32);
    EXPECT_EQ(image.size, fresh.size);
    EXPECT_EQ(image.pixels, fresh.pixels);
    // A bad file between two good ones.
    const auto bad = folder.write("bad.jpg", first_bytes(bytes, bytes.size() / 2));
    EXPECT_NE(user_error([&] { read_photo(bad, 32, scratch, image); }), "no UserError was thrown");
  }
}

TEST(PhotoThreads, DecodeAsOneDoes) {
  const auto image = smooth_image({120, 90});
  const Bytes files[] = {jpeg_bytes(image), jpeg_bytes(image, true), png_bytes(image),
                         webp_bytes(image), lossy_webp_bytes(image), first_bytes(jpeg_bytes(image), 500)};
  constexpr std::size_t count = 60;
  const auto decode_all = [&](int threads) {
    std::vector<Bytes> decoded(count);
    parallel_for(count, 5, threads, [&](std::size_t begin, std::size_t end) {
      PhotoScratch scratch;
      Image out;
      for (std::size_t i = begin; i < end; ++i) {
        try {
          decode_photo(files[i % std::size(files)], "f", 30, scratch, out);
          decoded[i] = out.pixels;
        } catch (const UserError&) {
          decoded[i] = {1};
        }
      }
    });
    return decoded;
  };
  EXPECT_EQ(decode_all(4), decode_all(1));
}

}  // namespace
}  // namespace regroup
