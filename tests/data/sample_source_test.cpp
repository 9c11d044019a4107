#include "regroup/data/sample_source.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "data/made_images.h"

namespace regroup {
namespace {

TEST(SampleSource, ImagesInMemoryAreViewsInTheirOrder) {
  const auto bytes = random_bytes(3 * 24);
  const ImagesInMemory images({2, 3, 4}, bytes);
  EXPECT_EQ(images.size(), 3U);
  EXPECT_EQ(pixels_of(images), bytes);
  SampleScratch scratch;
  EXPECT_EQ(images.read(2, scratch).data(), images.read(0, scratch).data() + 48);
  EXPECT_EQ(scratch.image.pixels.capacity(), 0U) << "nothing is copied";
  EXPECT_THROW(images.read(3, scratch), std::out_of_range);
}

TEST(SampleSource, PixelsMustBeThoseOfWholeImages) {
  EXPECT_THROW(ImagesInMemory({1, 3, 3}, std::vector<std::uint8_t>(17)), std::invalid_argument);
  for (const SampleShape shape : {SampleShape{0, 3, 3}, {1, 0, 3}, {1, 3, -1}})
    EXPECT_THROW(ImagesInMemory(shape, {}), std::invalid_argument);
}

TEST(SampleSource, TheDigestContinuesAHashAndSeesEveryByte) {
  auto bytes = random_bytes(18);
  const std::uint64_t before = ImagesInMemory({1, 3, 3}, bytes).digest();
  EXPECT_EQ(ImagesInMemory({1, 3, 3}, bytes).digest(), before);
  EXPECT_NE(ImagesInMemory({1, 3, 3}, bytes).digest(1), before);
  for (const std::size_t changed : {0U, 9U, 17U}) {
    auto other = bytes;
    ++other[changed];
    EXPECT_NE(ImagesInMemory({1, 3, 3}, other).digest(), before) << changed;
  }
}

}  // namespace
}  // namespace regroup
