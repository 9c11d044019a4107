#include <gtest/gtest.h>

#include "regroup/data/image_file.h"
#include "webp_testing.h"

namespace regroup {
namespace {

constexpr std::uint8_t exif_flag = 0x08, animation_flag = 0x02;

std::string error_of(const Bytes& bytes) {
  return user_error([&] { decode_image(bytes, "f"); });
}

TEST(WebP, IsDecodedExactlyWhereItKeepsEveryValue) {
  for (const ImageSize size : {ImageSize{1, 1}, ImageSize{5, 7}, ImageSize{40, 3}}) {
    const auto image = random_image(size, 1);
    const auto bytes = webp_bytes(image);
    EXPECT_EQ(image_size(bytes, "f"), size);
    const auto decoded = decode_image(bytes, "f");
    EXPECT_EQ(decoded.size, size);
    EXPECT_EQ(decoded.pixels, image.pixels);
  }
}

TEST(WebP, IsDecodedUpToItsLoss) {
  const auto image = plain_image({19, 30}, 200, 100, 50);
  const auto decoded = decode_image(lossy_webp_bytes(image), "f");
  ASSERT_EQ(decoded.size, image.size);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) ASSERT_NEAR(decoded.pixels[i], image.pixels[i], 4);
}

TEST(WebP, WhatIsTransparentShowsWhite) {
  EXPECT_EQ(decode_image(transparent_webp_bytes({1, 3}, {1, 2, 3, 0, 4, 5, 6, 255, 0, 100, 255, 51}), "f").pixels,
            (Bytes{255, 255, 255, 4, 5, 6, 204, 224, 255}));
}

TEST(WebP, IsTurnedUpright) {
  const Image image{{1, 2}, {10, 20, 30, 40, 50, 60}};
  // One entry: the orientation, 6, as a short number.
  const Bytes block = {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0};
  const Bytes turned = {10, 20, 30, 40, 50, 60};
  for (const Bytes& start : {Bytes{}, Bytes{'E', 'x', 'i', 'f', 0, 0}}) {
    const auto exif = webp_chunk("ICCP", {1, 2, 3}) + webp_chunk("EXIF", start + block);
    const auto bytes = extended_webp(image.size, exif_flag, webp_bytes(image), exif);
    EXPECT_EQ(image_size(bytes, "f"), (ImageSize{2, 1}));
    EXPECT_EQ(decode_image(bytes, "f").pixels, turned);
    // A part of the file does not tell how it lies.
    EXPECT_EQ(user_error([&] { image_size(first_bytes(bytes, bytes.size() - 1), "f"); }),
              "f: damaged WebP file (it ends too early); fetch or remove it");
  }
  // A flag without a chunk, and a chunk that claims more than there is.
  EXPECT_EQ(image_size(extended_webp(image.size, exif_flag, webp_bytes(image), {}), "f"), image.size);
  EXPECT_EQ(image_size(extended_webp(image.size, exif_flag, webp_bytes(image),
                                     Bytes{'E', 'X', 'I', 'F', 255, 255, 255, 255, 'I', 'I'}),
                       "f"),
            image.size);
}

TEST(WebP, TheOrientationOfALongFileIsFoundAtItsEnd) {
  const TemporaryFolder folder;
  const auto image = random_image({150, 200}, 2);
  const Bytes block = {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0};
  const auto bytes = extended_webp(image.size, exif_flag, webp_bytes(image), webp_chunk("EXIF", block));
  ASSERT_GT(bytes.size(), 1U << 16);
  const auto file = folder.write("f.webp", bytes);
  EXPECT_EQ(read_image_size(file), (ImageSize{200, 150}));
  EXPECT_EQ(check_image_file(file), (ImageSize{200, 150}));
}

TEST(WebP, AnAnimationIsRefused) {
  const auto image = random_image({4, 5}, 3);
  const auto simple = webp_bytes(image);
  const Bytes frame =
      Bytes(6) + little_endian(4, 3) + little_endian(3, 3) + Bytes(4) + Bytes(simple.begin() + 12, simple.end());
  const Bytes extended = webp_chunk("VP8X", Bytes{animation_flag, 0, 0, 0} + little_endian(4, 3) + little_endian(3, 3));
  EXPECT_EQ(error_of(riff(extended + webp_chunk("ANIM", Bytes(6)) + webp_chunk("ANMF", frame))),
            "f: an animated WebP file; save one of its pictures instead, or remove it");
}

TEST(WebP, AnyCutIsAnErrorAndIsFoundWithoutDecoding) {
  const TemporaryFolder folder;
  const auto image = random_image({16, 24}, 4);
  for (const auto& bytes : {webp_bytes(image), lossy_webp_bytes(image)}) {
    EXPECT_EQ(check_image_file(folder.write("f.webp", bytes)), image.size);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      ASSERT_NE(error_of(first_bytes(bytes, size)), "no UserError was thrown") << size;
      const auto cut = folder.write("f.webp", first_bytes(bytes, size));
      ASSERT_NE(user_error([&] { check_image_file(cut); }), "no UserError was thrown") << size;
    }
  }
}

TEST(WebP, AHeaderThatClaimsTooMuchGetsNoMemory) {
  // Width and height, less one, are 14 bits each behind the signature of the lossless chunk.
  auto bytes = webp_bytes(plain_image({8, 8}, 1, 2, 3));
  constexpr std::size_t size_at = 21;
  bytes[size_at] = bytes[size_at + 1] = bytes[size_at + 2] = 0xff;
  bytes[size_at + 3] = static_cast<std::uint8_t>(bytes[size_at + 3] | 0x0f);
  EXPECT_EQ(error_of(bytes), "f: 16384x16384 pixels; at most 100 million are read, so make it smaller or remove it");
}

}  // namespace
}  // namespace regroup
