#include "regroup/audit/pictures.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "audit/audit_testing.h"
#include "regroup/audit/jpeg_encode.h"
#include "regroup/data/image_file.h"

namespace regroup {
namespace {

Audit audit_of(std::size_t count) {
  Audit audit;
  audit.class_names = {"a", "b"};
  audit.parts = {"train"};
  audit.samples.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) audit.samples[i].index = i;
  return audit;
}

double mean_difference(const Image& left, const Image& right) {
  double sum = 0;
  for (std::size_t i = 0; i < left.pixels.size(); ++i) sum += std::abs(left.pixels[i] - right.pixels[i]);
  return sum / static_cast<double>(left.pixels.size());
}

TEST(Pictures, OfSamplesInMemoryAreTheSamples) {
  const std::vector<Image> images{made_picture(1), made_picture(2)};
  const Audit audit = audit_of(3);
  const PictureReader reader(audit, {std::make_shared<ImagesInMemory>(source_of(images).shape(), images[0].pixels)});
  EXPECT_EQ(reader.read(0, 100)->pixels, images[0].pixels);
  EXPECT_FALSE(reader.read(2, 100).has_value()) << "there is no such sample";
  const std::vector<std::uint8_t> grey{10, 20, 30, 40};
  const PictureReader of_grey(audit, {std::make_shared<ImagesInMemory>(SampleShape{1, 2, 2}, grey)});
  EXPECT_EQ(of_grey.read(0, 100)->pixels, (std::vector<std::uint8_t>{10, 10, 10, 20, 20, 20, 30, 30, 30, 40, 40, 40}));
}

TEST(Pictures, OfFilesAreScaledAndNeverCutOrEnlarged) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "pictures";
  std::filesystem::create_directories(folder);
  Audit audit = audit_of(4);
  audit.root = folder;
  const ImageSize sizes[] = {{300, 400}, {40, 20}, {30, 900}};
  for (std::size_t i = 0; i < 3; ++i) {
    Image image;
    image.reshape(sizes[i]);
    std::ranges::fill(image.pixels, std::uint8_t{77});
    audit.samples[i].path = std::to_string(i) + ".jpg";
    std::ofstream(folder / audit.samples[i].path, std::ios::binary) << encode_jpeg(image, 90);
  }
  audit.samples[3].path = "is not there.jpg";
  const PictureReader reader(audit, {});
  EXPECT_EQ(reader.read(0, 100)->size, (ImageSize{75, 100}));
  EXPECT_EQ(reader.read(1, 100)->size, (ImageSize{40, 20}));
  EXPECT_EQ(reader.read(2, 100)->size, (ImageSize{3, 100}));
  EXPECT_FALSE(reader.read(3, 100).has_value());
}

TEST(Tiles, ShowEachPictureInItsCell) {
  constexpr std::size_t count = 130;
  std::vector<Image> images;
  for (std::uint32_t i = 0; i < count; ++i) images.push_back(made_picture(i));
  Audit audit = audit_of(count + 1);
  std::vector<std::uint8_t> pixels;
  for (const Image& image : images) pixels.insert(pixels.end(), image.pixels.begin(), image.pixels.end());
  const PictureReader reader(audit, {std::make_shared<ImagesInMemory>(SampleShape{3, 32, 32}, pixels)});
  std::vector<std::uint32_t> samples(count);
  std::iota(samples.rbegin(), samples.rend(), 0U);
  samples.insert(samples.begin(), count);  // one that has no picture
  const Tiles tiles = make_tiles(samples, reader, 1'000'000, 2);
  EXPECT_EQ(tiles.size, 32);
  ASSERT_EQ(tiles.sheets.size(), 2U);
  EXPECT_EQ(tiles.pictures[0], ImageSize{});
  for (const std::size_t place : {std::size_t{1}, std::size_t{57}, std::size_t{120}}) {
    const std::string& sheet = tiles.sheets[place / 100];
    const Image decoded = decode_image({reinterpret_cast<const std::uint8_t*>(sheet.data()), sheet.size()}, "sheet");
    EXPECT_EQ(decoded.size, (ImageSize{320, 320}));
    Image cell;
    cell.reshape({32, 32});
    for (std::size_t y = 0; y < 32; ++y)
      for (std::size_t x = 0; x < 32 * 3; ++x)
        cell.pixels[y * 32 * 3 + x] = decoded.pixels[(place % 100 / 10 * 32 + y) * 320 * 3 + place % 10 * 32 * 3 + x];
    EXPECT_EQ(tiles.pictures[place], (ImageSize{32, 32}));
    EXPECT_LT(mean_difference(cell, images[samples[place]]), 12) << place;
    EXPECT_GT(mean_difference(cell, images[samples[place + 1]]), 20) << place;
  }
  EXPECT_EQ(make_tiles(samples, reader, 1, 2).sheets.size(), 1U) << "a sheet is begun while there is room";
}

}  // namespace
}  // namespace regroup
