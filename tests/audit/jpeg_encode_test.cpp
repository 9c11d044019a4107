#include "regroup/audit/jpeg_encode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "audit/audit_testing.h"
#include "regroup/data/image_file.h"

namespace regroup {
namespace {

Image decoded(const std::string& file) {
  return decode_image({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}, "encoded");
}

double mean_difference(const Image& left, const Image& right) {
  double sum = 0;
  for (std::size_t i = 0; i < left.pixels.size(); ++i) sum += std::abs(int{left.pixels[i]} - int{right.pixels[i]});
  return sum / static_cast<double>(left.pixels.size());
}

TEST(JpegEncode, OurDecoderReadsWhatWasThere) {
  const Image picture = made_picture(1, 200);
  for (const int quality : {60, 95}) {
    const Image back = decoded(encode_jpeg(picture, quality));
    EXPECT_EQ(back.size, picture.size);
    EXPECT_LT(mean_difference(back, picture), quality == 60 ? 4 : 2);
  }
  EXPECT_LT(encode_jpeg(picture, 60).size(), encode_jpeg(picture, 95).size());
}

TEST(JpegEncode, AnySizeAndAnyPartOfAnImage) {
  const Image grain = grainy(plain(128, 300), 1, 100);
  for (const ImageSize size : {ImageSize{1, 1}, ImageSize{3, 17}, ImageSize{300, 1}, ImageSize{299, 300}}) {
    ImageView part(grain);
    part.size = size;
    part.pixels += grain.size.width % 7 * 3;
    if (size.width == grain.size.width) part.pixels = grain.pixels.data();
    const Image back = decoded(encode_jpeg(part, 100));
    ASSERT_EQ(back.size, size);
    double sum = 0;
    for (int y = 0; y < size.height; ++y)
      for (std::size_t x = 0; x < static_cast<std::size_t>(size.width) * 3; ++x)
        sum += std::abs(int{part.pixels[static_cast<std::size_t>(y) * part.stride + x]} -
                        int{back.pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(size.width) * 3 + x]});
    EXPECT_LT(sum / static_cast<double>(back.pixels.size()), 3) << size.height << 'x' << size.width;
  }
}

TEST(JpegEncode, ASizeThatNoFileHasIsRefused) {
  const std::uint8_t pixel[3] = {};
  for (const ImageSize size : {ImageSize{0, 5}, ImageSize{5, 0}, ImageSize{-1, 1}, ImageSize{1, 65501}})
    EXPECT_THROW(encode_jpeg(ImageView(pixel, size), 90), std::invalid_argument);
}

}  // namespace
}  // namespace regroup
