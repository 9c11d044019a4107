#include "regroup/data/image_cache.h"

#include <gtest/gtest.h>

#include "image_testing.h"

namespace regroup {
namespace {

class Cache : public testing::Test {
 protected:
  std::filesystem::path only_file() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path() / "cache"))
      if (entry.is_regular_file()) return entry.path();
    return {};
  }

  static Bytes bytes_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  static void replace(const std::filesystem::path& file, const Bytes& bytes) {
    std::ofstream out(file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

  TemporaryFolder folder;
  const Image image = random_image({5, 7}, 1);
};

TEST_F(Cache, GivesBackWhatWasWritten) {
  ImageCache cache(folder.path() / "cache", 1e6);
  Image read;
  EXPECT_FALSE(cache.read("0123", read));
  cache.write("0123", image);
  ASSERT_TRUE(ImageCache(folder.path() / "cache", 1e6).read("0123", read)) << "other processes share it";
  EXPECT_EQ(read.size, image.size);
  EXPECT_EQ(read.pixels, image.pixels);
}

TEST_F(Cache, HoldsNoMoreThanItMay) {
  const double one = 16 + 5 * 7 * 3;
  Image read;
  {
    ImageCache cache(folder.path() / "cache", 1.5 * one);
    cache.write("0001", image);
    cache.write("0002", image);
    EXPECT_TRUE(cache.read("0001", read));
    EXPECT_FALSE(cache.read("0002", read));
  }
  ImageCache again(folder.path() / "cache", 1.5 * one);
  again.write("0003", image);
  EXPECT_FALSE(again.read("0003", read)) << "what is there already counts";
}

TEST_F(Cache, WhatIsDamagedIsNotThere) {
  ImageCache cache(folder.path() / "cache", 1e6);
  cache.write("0123", image);
  const auto file = only_file();
  const Bytes whole = bytes_of(file);
  Image read;
  for (const std::size_t size : {0U, 8U, 16U, 17U, 120U}) {
    replace(file, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_FALSE(cache.read("0123", read)) << size;
  }
  Bytes longer = whole, huge = whole, other = whole;
  longer.push_back(0);
  huge[11] = 0x7f;
  other[0] = 'x';
  for (const Bytes& bytes : {longer, huge, other}) {
    replace(file, bytes);
    EXPECT_FALSE(cache.read("0123", read));
  }
  replace(file, whole);
  EXPECT_TRUE(cache.read("0123", read));
}

TEST_F(Cache, AFileThatChangesHasAnotherKey) {
  const auto file = folder.write("a.png", std::string("one"));
  const std::string key = ImageCache::key(file, "8 square");
  EXPECT_EQ(ImageCache::key(file, "8 square"), key);
  EXPECT_NE(ImageCache::key(file, "9 square"), key);
  folder.write("a.png", std::string("three"));
  EXPECT_NE(ImageCache::key(file, "8 square"), key);
}

TEST_F(Cache, APlaceThatIsNoFolderIsTheUsersMistake) {
  const auto file = folder.write("file", std::string("text"));
  EXPECT_NE(user_error([&] { ImageCache(file / "cache", 1e6); }).find("no cache can be made here"), std::string::npos);
}

}  // namespace
}  // namespace regroup
