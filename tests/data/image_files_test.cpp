#include "regroup/data/image_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "data/made_images.h"
#include "image_testing.h"

namespace regroup {
namespace {

TEST(ChooseSize, TakesTheShorterSideOfTheMostCommonSizeWithinBounds) {
  const ImageSize small{20, 40}, square{64, 64}, large{400, 225};
  EXPECT_EQ(choose_size(std::vector{square, small, square}, 224), 64);
  EXPECT_EQ(choose_size(std::vector{small, small, square}, 224), 28);
  EXPECT_EQ(choose_size(std::vector{large, large, square}, 224), 224);
  EXPECT_EQ(choose_size(std::vector{large, large, square}, 300), 225);
  EXPECT_EQ(choose_size(std::vector{square}, 63), 63);
  EXPECT_EQ(choose_size(std::vector{small, square}, 224), 64);  // of two that are as common, the larger one
  EXPECT_EQ(choose_size({}, 96), 96);
}

/// Six training images of 30x30 and two test images, one of them larger; `bad` files have a name and no image.
class ImageFiles : public testing::Test {
 protected:
  ImageFiles() {
    for (int i = 0; i < 6; ++i) add(list.train, i, {30, 30});
    add(list.tests["test"], 6, {30, 30});
    add(list.tests["test"], 7, {60, 90});
  }

  void add(std::vector<ListedImage>& images, int i, ImageSize size) const {
    const auto name = std::to_string(i) + ".png";
    const auto value = static_cast<std::uint8_t>(10 * i);
    folder.write(name, png_bytes(plain_image(size, value, value, value)));
    images.push_back({name, i % 2, i == 3 ? 1 : -1});
  }

  /// The first value of each image.
  static Bytes values(const LabelledSet& set) {
    Bytes values;
    SampleScratch scratch;
    for (std::uint32_t i = 0; i < set.source->size(); ++i) values.push_back(set.source->read(i, scratch)[0]);
    return values;
  }

  Dataset load(const LoadOptions& options) const {
    Dataset dataset;
    load_image_files(folder.path(), list, options, dataset);
    return dataset;
  }

  TemporaryFolder folder;
  ListedImages list;
};

TEST_F(ImageFiles, BecomeRgbOfOneSizeInTheirOrderOnAnyNumberOfThreads) {
  for (const int threads : {1, 3}) {
    const auto dataset = load({.threads = threads});
    EXPECT_EQ(dataset.train.size(), 6U);
    EXPECT_EQ(dataset.train.source->shape().channels, 3);
    EXPECT_EQ(dataset.train.source->shape().height, 30);
    EXPECT_EQ(dataset.train.source->shape().width, 30);
    EXPECT_EQ(dataset.train.labels, (std::vector<std::int32_t>{0, 1, 0, 1, 0, 1}));
    EXPECT_EQ(dataset.train.clean, (std::vector<std::int32_t>{-1, -1, -1, 1, -1, -1}));
    EXPECT_EQ(dataset.train.paths[5], "5.png");
    EXPECT_EQ(values(dataset.train), (Bytes{0, 10, 20, 30, 40, 50}));
    EXPECT_EQ(dataset.test().size(), 2U);
    EXPECT_TRUE(dataset.test().clean.empty());
    EXPECT_EQ(pixels_of(*dataset.test().source), Bytes(2700, 60) + Bytes(2700, 70));
  }
}

TEST_F(ImageFiles, TheSizeCanBeAskedFor) {
  const auto dataset = load({.image_size = 8});
  EXPECT_EQ(dataset.train.source->shape().height, 8);
  EXPECT_EQ(dataset.test().source->shape().width, 8);
  EXPECT_EQ(pixels_of(*dataset.test().source), Bytes(192, 60) + Bytes(192, 70));
  EXPECT_EQ(user_error([&] { load({.image_size = -1}); }),
            "the image size is -1; give one from 1 to 4096, or 0 for that of the images");
  EXPECT_EQ(user_error([&] { load({.image_size = 5000}); }),
            "the image size is 5000; give one from 1 to 4096, or 0 for that of the images");
}

TEST_F(ImageFiles, TheSizeAndTheMemoryAreToldBeforeTheImagesAreDecoded) {
  std::vector<std::string> told;
  LoadOptions options;
  options.tell = [&](const std::string& sentence) { told.push_back(sentence); };
  options.progress = [&](std::size_t, std::size_t) { EXPECT_EQ(told.size(), 2U); };
  const auto first = [&] {
    told.clear();
    load(options);
    return told[0];
  };
  EXPECT_EQ(first(), "images become 30x30: the most common size of the files is 30x30 (--image-size changes it)");
  EXPECT_EQ(told[1], "8 images of 30x30 take 1 MB of memory");
  options.max_size = 29;
  EXPECT_EQ(first(),
            "images become 29x29: the most common size of the files is 30x30, and the network is made for at "
            "most 29 (--image-size changes it)");
  options.max_size = 224;
  list.tests["test"].clear();
  for (int i = 8; i < 20; ++i) add(list.tests["test"], i, {12, 300 - 100});
  EXPECT_EQ(first(),
            "images become 28x28: the most common size of the files is 200x12, and networks need 28 "
            "(--image-size changes it)");
}

TEST_F(ImageFiles, BadValidationImagesAreTakenOffTheValidationPart) {
  list.validation = {list.train[3], list.train[4], list.train[5]};
  list.train.resize(3);
  folder.write("1.png", std::string("no image"));
  folder.write("3.png", std::string("no image"));
  const auto good = png_bytes(random_image({30, 30}, 1));
  folder.write("5.png", first_bytes(good, good.size() - 30));
  const auto dataset = load({.on_bad_image = BadImage::skip});
  EXPECT_EQ(dataset.train.paths, (std::vector<std::string>{"0.png", "2.png", "4.png"}));
  EXPECT_EQ(values(dataset.train), (Bytes{0, 20, 40}));
  EXPECT_EQ(dataset.validation_count, 1);
  for (const char* name : {"0.png", "2.png"}) folder.write(name, std::string("no image"));
  EXPECT_EQ(user_error([&] { load({.on_bad_image = BadImage::skip}); }),
            folder.path().string() + ": no training image could be read; is it the right place?");
}

TEST_F(ImageFiles, ABadImageIsRefusedByItsPath) {
  const auto file = folder.write("2.png", std::string("no image"));
  EXPECT_EQ(user_error([&] { load({}); }),
            file.string() + ": neither a JPEG, a PNG nor a WebP file; convert or remove it");
}

TEST_F(ImageFiles, BadImagesAreSkippedIfAskedForAndToldInOrder) {
  // One is found bad by its header, one only by its pixels, one is not there.
  folder.write("1.png", std::string("no image"));
  Bytes damaged = png_bytes(random_image({30, 30}, 1));
  damaged[damaged.size() / 2] ^= 0xff;
  folder.write("3.png", damaged);
  std::filesystem::remove(folder.path() / "6.png");
  for (const int threads : {1, 4}) {
    std::vector<std::string> sentences;
    const auto dataset = load({.on_bad_image = BadImage::skip, .threads = threads, .warn = [&](const auto& sentence) {
                                 sentences.push_back(sentence);
                               }});
    EXPECT_EQ(values(dataset.train), (Bytes{0, 20, 40, 50}));
    EXPECT_EQ(dataset.train.labels, (std::vector<std::int32_t>{0, 0, 0, 1}));
    EXPECT_EQ(dataset.train.paths, (std::vector<std::string>{"0.png", "2.png", "4.png", "5.png"}));
    EXPECT_EQ(dataset.train.clean.size(), 4U);
    EXPECT_EQ(pixels_of(*dataset.train.source).size(), 4 * dataset.train.source->shape().values());
    EXPECT_EQ(dataset.test().paths, std::vector<std::string>{"7.png"});
    ASSERT_EQ(sentences.size(), 3U);
    EXPECT_TRUE(sentences[0].starts_with((folder.path() / "1.png").string() + ": neither"));
    EXPECT_TRUE(sentences[1].starts_with((folder.path() / "6.png").string() + ": cannot be opened"));
    EXPECT_TRUE(sentences[2].starts_with((folder.path() / "3.png").string() + ": damaged PNG file"));
  }
}

TEST_F(ImageFiles, WithoutAnyGoodTrainingImageThereIsAnError) {
  for (int i = 0; i < 6; ++i) folder.write(std::to_string(i) + ".png", Bytes{});
  EXPECT_EQ(user_error([&] { load({.on_bad_image = BadImage::skip}); }),
            folder.path().string() + ": no training image could be read; is it the right place?");
}

/// More images than the memory holds.
class ManyImages : public ImageFiles {
 protected:
  ManyImages() {
    const auto memory =
        static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    list.train.resize(memory / (std::size_t{4096} * 4096 * 3) + 1, list.train[0]);
    options.tell = [this](const std::string& sentence) { told.push_back(sentence); };
  }

  LoadOptions options{.image_size = 4096};
  std::vector<std::string> told;
};

TEST_F(ManyImages, AreLeftOnDisk) {
  const auto dataset = load(options);
  EXPECT_TRUE(dataset.train.source->decodes());
  EXPECT_EQ(dataset.train.source->size(), list.train.size());
  EXPECT_NE(told.at(0).find(" of memory, so they are decoded from disk in each epoch"), std::string::npos) << told[0];
  SampleScratch scratch;
  EXPECT_EQ(dataset.train.source->read(7, scratch).height, 4096);
}

TEST_F(ManyImages, AreRefusedBeforeTheyAreDecodedWhereTheyAreToBeInMemory) {
  options.keep = KeepImages::memory;
  const auto error = user_error([&] { load(options); });
  EXPECT_NE(error.find(" images of 4096x4096 take "), std::string::npos) << error;
  EXPECT_TRUE(error.ends_with("; give a smaller --image-size, or --keep-images disk")) << error;
}

TEST_F(ImageFiles, OnDiskAreWhatTheyAreInMemory) {
  const auto memory = load({.image_size = 8, .resize = 12}),
             disk = load({.image_size = 8, .resize = 12, .keep = KeepImages::disk});
  EXPECT_FALSE(memory.train.source->decodes());
  EXPECT_TRUE(disk.train.source->decodes());
  EXPECT_EQ(disk.train.source->shape(), (SampleShape{3, 8, 8}));
  EXPECT_EQ(disk.short_side, 12);
  EXPECT_EQ(pixels_of(*memory.train.source), pixels_of(*disk.train.source));
  EXPECT_EQ(memory.train.source->digest(), disk.train.source->digest());
  EXPECT_EQ(memory.train.labels, disk.train.labels);
  EXPECT_EQ(memory.test().paths, disk.test().paths);
}

TEST_F(ImageFiles, WholeImagesKeepMoreThanTheSquare) {
  const auto dataset = load({.image_size = 14, .whole_images = true});
  EXPECT_EQ(dataset.short_side, 16) << "8/7 of the side, unless something else is asked for";
  SampleScratch scratch;
  const SampleView view = dataset.test().source->read(1, scratch);
  EXPECT_EQ(view.height, 16);
  EXPECT_EQ(view.width, 24);
  EXPECT_EQ(user_error([&] { load({.image_size = 14, .resize = 13}); }),
            "images are scaled to 13 pixels, and networks get 14 of them; give a --resize from 14 to 4096");
}

TEST_F(ImageFiles, TheSideMayBeChosenByWhatIsThere) {
  ImageSurvey seen;
  LoadOptions options;
  options.choose_side = [&](const ImageSurvey& survey) {
    seen = survey;
    return 29;
  };
  EXPECT_EQ(load(options).train.source->shape().height, 29);
  EXPECT_EQ(seen.train, 6U);
  EXPECT_EQ(seen.tests, 2U);
  EXPECT_EQ(seen.common, (ImageSize{30, 30}));
  options.image_size = 28;
  EXPECT_EQ(load(options).train.source->shape().height, 28) << "what is asked for counts";
}

TEST_F(ImageFiles, WhoeverChoosesTheSideCanTryImagesThatStayOnDisk) {
  LoadOptions options;
  std::shared_ptr<const SampleSource> some;
  options.choose_side = [&](const ImageSurvey& survey) {
    some = survey.from_disk(29);
    if (some != nullptr) {
      EXPECT_EQ(pixels_of(*some).size(), std::size_t{6} * 3 * 29 * 29) << "the training images";
    }
    return 29;
  };
  load(options);
  EXPECT_EQ(some, nullptr) << "they will be in memory";
  options.keep = KeepImages::disk;
  load(options);
  ASSERT_NE(some, nullptr);
  EXPECT_TRUE(some->decodes());
  EXPECT_EQ(some->shape(), (SampleShape{3, 29, 29}));
}

TEST_F(ImageFiles, ProgressGrowsToTheTotalOnThreads) {
  for (int i = 8; i < 100; ++i) add(list.train, i, {1, 1});
  std::vector<std::size_t> steps;
  load({.image_size = 1, .threads = 4, .progress = [&](std::size_t done, std::size_t total) {
          EXPECT_EQ(total, 100U);
          steps.push_back(done);
        }});
  EXPECT_GE(steps.size(), 2U);
  EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));
  EXPECT_EQ(steps.back(), 100U);
}

TEST_F(ImageFiles, AHundredTestSetsAreEnough) {
  for (int i = 0; i < 100; ++i) list.tests[fmt::format("test-{}", i)];
  EXPECT_EQ(user_error([&] { load({}); }), folder.path().string() + ": 101 test sets; give at most 100");
}

TEST_F(ImageFiles, APartOfEachClassIsSplitOff) {
  list.tests["test"].clear();
  split_off_test(list, 2, {.test_split = 0.34});
  EXPECT_EQ(list.train.size(), 4U);
  ASSERT_EQ(list.tests["test"].size(), 2U);
  EXPECT_NE(list.tests["test"][0].label, list.tests["test"][1].label);
  EXPECT_EQ(user_error([&] { split_off_test(list, 2, {.test_split = 1}); }),
            "the share of the test split is 1; give one from 0 to below 1");
}

}  // namespace
}  // namespace regroup
