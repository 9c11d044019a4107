#include "regroup/data/exif.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "image_testing.h"

namespace regroup {
namespace {

/// The stored image is abc over def; this is how it looks upright.
struct Turned {
  std::uint8_t orientation;
  ImageSize size;
  std::string letters;
};
const std::vector<Turned> all_turned{
    {1, {2, 3}, "abcdef"}, {2, {2, 3}, "cbafed"}, {3, {2, 3}, "fedcba"}, {4, {2, 3}, "defabc"},
    {5, {3, 2}, "adbecf"}, {6, {3, 2}, "daebfc"}, {7, {3, 2}, "fcebda"}, {8, {3, 2}, "cfbead"},
};

Bytes number(std::uint32_t value, std::size_t size, bool little) {
  Bytes bytes = big_endian(value);
  bytes.erase(bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(size));
  if (little) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

/// An EXIF block of two entries, of which the second is the orientation, as a short number.
Bytes exif(std::uint32_t orientation, bool little) {
  const auto entry = [&](std::uint32_t tag, std::uint32_t value) {
    return number(tag, 2, little) + number(3, 2, little) + number(1, 4, little) + number(value, 2, little) +
           Bytes{0, 0};
  };
  const Bytes order = little ? Bytes{'I', 'I'} : Bytes{'M', 'M'};
  return order + number(42, 2, little) + number(8, 4, little) + number(2, 2, little) + entry(0x0100, 5) +
         entry(0x0112, orientation) + number(0, 4, little);
}

std::uint8_t shade(char letter) { return static_cast<std::uint8_t>(40 * (letter - 'a')); }

/// abcdef with `block` x `block` pixels a letter.
Image stored_image(int block) {
  Image image{{2 * block, 3 * block}, {}};
  for (int y = 0; y < image.size.height; ++y) {
    for (int x = 0; x < image.size.width; ++x) {
      const auto value = shade(static_cast<char>('a' + y / block * 3 + x / block));
      image.pixels.insert(image.pixels.end(), {value, value, value});
    }
  }
  return image;
}

Bytes png_with(const Bytes& block) {
  const Bytes png = png_bytes(stored_image(1));
  constexpr std::size_t header = 8 + 25;
  return first_bytes(png, header) + png_chunk("eXIf", block) + Bytes(png.begin() + header, png.end());
}

Bytes jpeg_with(const Bytes& block, const std::string& signature = std::string("Exif\0\0", 6)) {
  const Bytes jpeg = jpeg_bytes(stored_image(16));
  const Bytes content = Bytes(signature.begin(), signature.end()) + block;
  return first_bytes(jpeg, 2) + Bytes{0xff, 0xe1} + number(static_cast<std::uint32_t>(content.size()) + 2, 2, false) +
         content + Bytes(jpeg.begin() + 2, jpeg.end());
}

TEST(Exif, APngIsTurnedUprightExactly) {
  for (const auto& [orientation, size, letters] : all_turned) {
    for (const bool little : {false, true}) {
      const auto bytes = png_with(exif(orientation, little));
      EXPECT_EQ(image_size(bytes, "f"), size) << int{orientation};
      const auto image = decode_image(bytes, "f");
      EXPECT_EQ(image.size, size) << int{orientation};
      Bytes expected;
      for (const char letter : letters) expected.insert(expected.end(), 3, shade(letter));
      EXPECT_EQ(image.pixels, expected) << int{orientation};
    }
  }
}

TEST(Exif, AJpegIsTurnedUprightUpToItsLoss) {
  for (const auto& [orientation, size, letters] : all_turned) {
    for (const bool little : {false, true}) {
      const auto bytes = jpeg_with(exif(orientation, little));
      const ImageSize large{16 * size.height, 16 * size.width};
      EXPECT_EQ(image_size(bytes, "f"), large) << int{orientation};
      const auto image = decode_image(bytes, "f");
      ASSERT_EQ(image.size, large) << int{orientation};
      for (std::size_t i = 0; i < letters.size(); ++i) {
        const auto width = static_cast<std::size_t>(size.width);
        const std::size_t y = 16 * (i / width) + 8, x = 16 * (i % width) + 8;
        EXPECT_NEAR(image.pixels[3 * (y * 16 * width + x)], shade(letters[i]), 3) << int{orientation} << ' ' << i;
      }
    }
  }
}

TEST(Exif, OtherDataUnderTheMarkerOfExifIsPassedOver) {
  const auto turned = jpeg_with(exif(6, true));
  const Bytes other = {0xff, 0xe1, 0, 8, 'h', 't', 't', 'p', ':', '/'};
  const auto bytes = first_bytes(turned, 2) + other + Bytes(turned.begin() + 2, turned.end());
  EXPECT_EQ(image_size(bytes, "f"), (ImageSize{48, 32}));
  EXPECT_EQ(image_size(jpeg_with(exif(6, true), "Exit!!"), "f"), (ImageSize{32, 48}));
}

TEST(Exif, WhatIsDamagedIsIgnored) {
  for (const bool little : {false, true}) {
    const auto whole = exif(6, little);
    EXPECT_EQ(exif_orientation(whole), 6);
    EXPECT_EQ(exif_orientation(exif(0, little)), 1);
    EXPECT_EQ(exif_orientation(exif(9, little)), 1);
    // Cut anywhere before the end of the value: 8 for the head, 2 for the count, 12 for an entry, 10 for the next.
    for (std::size_t size = 0; size < 32; ++size) {
      const int found = exif_orientation(first_bytes(whole, size));
      EXPECT_TRUE(found == 1 || (little && size == 31 && found == 6)) << size;
      EXPECT_EQ(image_size(jpeg_with(first_bytes(whole, size)), "f").pixels(), 32U * 48) << size;
      EXPECT_EQ(image_size(png_with(first_bytes(whole, size)), "f").pixels(), 6U) << size;
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const std::uint8_t value : {0x00, 0x7f, 0xff}) {
        auto broken = whole;
        broken[at] = value;
        const int found = exif_orientation(broken);
        EXPECT_TRUE(found >= 1 && found <= 8) << at;
        EXPECT_EQ(decode_image(jpeg_with(broken), "f").size.pixels(), 32U * 48) << at;
        EXPECT_EQ(decode_image(png_with(broken), "f").size.pixels(), 6U) << at;
      }
    }
  }
  EXPECT_EQ(exif_orientation({}), 1);
}

TEST(Exif, AChunkOfAPngThatIsDamagedIsIgnoredAndGetsNoMemory) {
  const auto png = png_with(exif(6, false));
  EXPECT_EQ(image_size(png, "f"), (ImageSize{3, 2}));
  constexpr std::size_t length = 8 + 25, value = length + 8 + 31;
  auto other_value = png;  // its checksum tells
  ASSERT_EQ(std::exchange(other_value[value], 5), 6);
  EXPECT_EQ(image_size(other_value, "f"), (ImageSize{2, 3}));
  auto two_gigabytes = png;
  two_gigabytes[length] = 0x7f;
  EXPECT_EQ(user_error([&] { image_size(two_gigabytes, "f"); }),
            "f: damaged PNG file (it ends too early); fetch or remove it");
}

}  // namespace
}  // namespace regroup
