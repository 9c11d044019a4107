#include "regroup/audit/thumbnail.h"

#include <gtest/gtest.h>

#include "audit/audit_testing.h"
#include "support/user_error.h"

namespace regroup {
namespace {

/// The second of three samples cannot be read.
class DamagedSource final : public SampleSource {
 public:
  SampleShape shape() const override { return {3, 32, 32}; }
  std::size_t size() const override { return 3; }
  SampleView read(std::uint32_t index, SampleScratch& scratch) const override {
    if (index == 1) throw UnreadableSample("sample 1 is damaged");
    scratch.image = made_picture(index);
    return {scratch.image.pixels, 32, 32};
  }
  std::uint64_t digest(std::uint64_t before) const override { return before; }
};

TEST(Thumbnail, KeepsColours) {
  Image red = plain(0);
  for (std::size_t i = 0; i < red.pixels.size(); i += 3) red.pixels[i] = 200;
  ResampleScratch scratch;
  const Thumbnail thumbnail = make_thumbnail(red, scratch);
  for (const std::uint8_t value : thumbnail.luminance) EXPECT_EQ(value, 60);
  for (std::size_t i = 0; i < thumbnail.colour.size(); i += 2) {
    EXPECT_EQ(thumbnail.colour[i], 94);
    EXPECT_EQ(thumbnail.colour[i + 1], 228);
  }
}

TEST(Thumbnail, OfGreySamplesIsThatOfTheSameGreyInColour) {
  Image coloured = made_picture(3);
  std::vector<std::uint8_t> grey;
  for (std::size_t i = 0; i < coloured.pixels.size(); i += 3) {
    grey.push_back(coloured.pixels[i]);
    coloured.pixels[i + 1] = coloured.pixels[i + 2] = coloured.pixels[i];
  }
  const ImagesInMemory grey_source({1, 32, 32}, grey);
  EXPECT_EQ(read_thumbnails(grey_source, 1), read_thumbnails(source_of({coloured}), 1));
}

TEST(Thumbnail, DoesNotDependOnThreads) {
  std::vector<Image> images;
  for (std::uint32_t i = 0; i < 150; ++i) images.push_back(made_picture(i, 20));
  const ImagesInMemory source = source_of(images);
  EXPECT_EQ(read_thumbnails(source, 1), read_thumbnails(source, 3));
}

TEST(Thumbnail, OfASampleThatCannotBeReadIsBlack) {
  const auto thumbnails = read_thumbnails(DamagedSource(), 1);
  ASSERT_EQ(thumbnails.size(), 3U);
  EXPECT_EQ(thumbnails[1], Thumbnail());
  EXPECT_NE(thumbnails[0], Thumbnail());
}

TEST(Thumbnail, NeedsPictures) {
  const ImagesInMemory source({2, 2, 2}, std::vector<std::uint8_t>(8));
  EXPECT_EQ(user_error([&] { read_thumbnails(source, 1); }), "samples have 2 channels; pictures have 1 or 3");
}

}  // namespace
}  // namespace regroup
