#include "regroup/data/photos.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "data/made_images.h"
#include "image_testing.h"
#include "regroup/data/loader.h"

namespace regroup {
namespace {

/// Ten photos of two shapes; number 3 is damaged.
class Photos : public testing::Test {
 protected:
  Photos() {
    for (std::uint32_t i = 0; i < 10; ++i) {
      const Image photo = random_image(i % 2 == 0 ? ImageSize{40, 60} : ImageSize{50, 40}, i);
      Bytes bytes = png_bytes(photo);
      if (i == 3) bytes.resize(bytes.size() / 2);
      paths.push_back(std::to_string(i) + ".png");
      folder.write(paths.back(), bytes);
    }
  }

  PhotoReader reader(PhotoForm form, std::shared_ptr<ImageCache> cache = nullptr) const {
    return {folder.path(), form, std::move(cache)};
  }

  PhotosOnDisk on_disk(PhotoForm form, const PhotosOnDisk::Warn& skip) const { return {reader(form), paths, 1, skip}; }

  TemporaryFolder folder;
  std::vector<std::string> paths;
  const PhotosOnDisk::Warn silent = [](const std::string&) {};
};

TEST_F(Photos, AreScaledByTheirShorterSideAndCutToASquareUnlessTheyAreToBeWhole) {
  PhotoScratch scratch;
  Image whole, square;
  reader({16, 20, true}).read("0.png", scratch, whole);
  EXPECT_EQ(whole.size, (ImageSize{20, 30}));
  reader({16, 20, false}).read("0.png", scratch, square);
  EXPECT_EQ(square.size, (ImageSize{20, 20}));
  Bytes middle(20 * 20 * 3);
  copy_middle({whole.pixels, 20, 30}, {3, 20, 20}, middle);
  EXPECT_EQ(square.pixels, middle);
}

TEST_F(Photos, OnDiskAreThoseThatWouldBeInMemory) {
  const PhotoForm form{16, 20, true};
  const PhotosOnDisk disk = on_disk(form, silent);
  EXPECT_EQ(disk.shape(), (SampleShape{3, 16, 16}));
  EXPECT_TRUE(disk.decodes());
  std::vector<Image> images(2);
  PhotoScratch photo;
  for (const std::uint32_t i : {0U, 1U}) reader(form).read(paths[i], photo, images[i]);
  const PhotosInMemory memory({3, 16, 16}, images, 1);
  EXPECT_EQ(memory.digest(), disk.digest()) << "a run may continue with the other kind";
  SampleScratch scratch, more;
  for (const std::uint32_t i : {0U, 1U}) {
    const SampleView a = disk.read(i, scratch), b = memory.read(i, more);
    EXPECT_EQ(Bytes(a.begin(), a.end()), Bytes(b.begin(), b.end()));
    EXPECT_EQ(a.height, b.height);
  }
  EXPECT_THROW(memory.read(2, more), std::out_of_range);
}

TEST_F(Photos, ADamagedFileIsToldOnceAndSkippedOrRefused) {
  std::vector<std::string> told;
  const PhotosOnDisk disk = on_disk({16, 16}, [&](const std::string& sentence) { told.push_back(sentence); });
  SampleScratch scratch;
  for (int time = 0; time < 2; ++time) EXPECT_THROW(disk.read(3, scratch), UnreadableSample);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("3.png: damaged PNG file"), std::string::npos) << told[0];
  EXPECT_EQ(disk.unreadable(), std::vector<std::uint32_t>{3});
  const PhotosOnDisk strict = on_disk({16, 16}, {});
  EXPECT_EQ(user_error([&] { strict.read(3, scratch); }), told[0]);
}

/// The order, what is random and what is left out are the same on any number of threads.
TEST_F(Photos, BatchesLeaveOutWhatCannotBeReadOnAnyNumberOfThreads) {
  const PhotosOnDisk disk = on_disk({16, 20, true}, silent);
  const Augmenter augmenter(disk, {{0.5F, 0.5F, 0.5F}, {0.2F, 0.2F, 0.2F}}, PixelType::float32, 7);
  const std::vector<std::uint32_t> positions{9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  BatchPlan plan;
  plan.slots = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  plan.batch_size = 5;
  plan.views = {{.crop = Crop::random}, {.crop = Crop::resized, .distortion = {.jitter = 0.4, .operations = 2}}};
  std::vector<std::vector<Batch>> results;
  for (const int workers : {1, 4}) {
    Loader loader(augmenter, positions, plan, 0, 6, workers);
    results.emplace_back();
    while (const Batch* batch = loader.next()) results.back().push_back(*batch);
  }
  ASSERT_EQ(results[0].size(), 6U);
  std::size_t images = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(results[0][i].slots, results[1][i].slots);
    EXPECT_EQ(results[0][i].views, results[1][i].views);
    EXPECT_EQ(std::ranges::count(results[0][i].slots, 6U), 0) << "slot 6 is the damaged file";
    for (const auto& view : results[0][i].views)
      EXPECT_EQ(view.size(), results[0][i].slots.size() * augmenter.output_bytes());
    images += results[0][i].slots.size();
  }
  EXPECT_EQ(images, 27U) << "three orders of ten, each without one";
}

TEST_F(Photos, WhereNothingIsShuffledADamagedFileKeepsItsPlaceAsThePlainMean) {
  const PhotosOnDisk disk = on_disk({16, 16}, silent);
  const Augmenter augmenter(disk, {{0.5F, 0.5F, 0.5F}, {0.2F, 0.2F, 0.2F}}, PixelType::float32, 7);
  const std::vector<std::uint32_t> positions{2, 3, 4};
  BatchPlan plan;
  plan.slots = {0, 1, 2};
  plan.batch_size = 3;
  plan.shuffle = false;
  Loader loader(augmenter, positions, plan, 0, 1);
  const Batch* const batch = loader.next();
  ASSERT_EQ(batch->slots.size(), 3U);
  const auto bytes = static_cast<std::ptrdiff_t>(augmenter.output_bytes());
  const auto image = [&](int i) {
    const auto begin = batch->views[0].begin() + i * bytes;
    return std::vector<std::byte>(begin, begin + bytes);
  };
  EXPECT_EQ(image(1), std::vector<std::byte>(static_cast<std::size_t>(bytes)));
  EXPECT_NE(image(0), image(1));
}

TEST_F(Photos, ABatchOfNothingButDamagedFilesIsAnError) {
  const PhotosOnDisk disk = on_disk({16, 16}, silent);
  const Augmenter augmenter(disk, {{0.5F, 0.5F, 0.5F}, {0.2F, 0.2F, 0.2F}}, PixelType::float32, 7);
  const std::vector<std::uint32_t> positions{3, 3};
  BatchPlan plan;
  plan.slots = {0, 1};
  plan.batch_size = 2;
  Loader loader(augmenter, positions, plan, 0, 1);
  EXPECT_NE(user_error([&] { loader.next(); }).find("none of the images of a batch can be read"), std::string::npos);
}

TEST_F(Photos, ACacheSparesDecodingUntilAFileChanges) {
  auto cache = std::make_shared<ImageCache>(folder.path() / "cache", 1e6);
  const PhotoForm form{16, 16};
  PhotoScratch scratch;
  Image first, cached, plain;
  reader(form, cache).read("0.png", scratch, first);
  const std::string key = ImageCache::key(folder.path() / "0.png", "16 square");
  ASSERT_TRUE(cache->read(key, cached));
  EXPECT_EQ(cached.pixels, first.pixels);
  cache->write(key, random_image({16, 16}, 77));
  reader(form, cache).read("0.png", scratch, cached);
  EXPECT_EQ(cached.pixels, random_image({16, 16}, 77).pixels) << "what the cache has is taken";
  cache->write(key, random_image({8, 16}, 78));
  reader(form, cache).read("0.png", scratch, cached);
  EXPECT_EQ(cached.pixels, first.pixels) << "unless it cannot be this image";
  folder.write("0.png", png_bytes(random_image({40, 61}, 5)));
  reader(form, cache).read("0.png", scratch, cached);
  reader(form).read("0.png", scratch, plain);
  EXPECT_EQ(cached.pixels, plain.pixels);
}

TEST_F(Photos, TheDigestIsOfPathsAndSizesOfFiles) {
  const std::uint64_t digest = digest_of_files(folder.path(), paths);
  EXPECT_EQ(digest_of_files(folder.path(), paths), digest);
  folder.write("2.png", std::string("other"));
  const std::uint64_t changed = digest_of_files(folder.path(), paths);
  EXPECT_NE(changed, digest);
  std::swap(paths[0], paths[1]);
  EXPECT_NE(digest_of_files(folder.path(), paths), changed);
}

}  // namespace
}  // namespace regroup
