#include "regroup/data/webvision.h"

#include <gtest/gtest.h>

#include "data/made_images.h"
#include "data/made_releases.h"

namespace regroup {
namespace {

class WebVision : public testing::Test {
 protected:
  void write(const ReleaseSizes& sizes, const std::string& imagenet = "imagenet") const {
    write_webvision([&](const std::string& name, const Bytes& content) { folder_.write("webvision/" + name, content); },
                    sizes, imagenet);
  }

  Dataset load(const std::filesystem::path& folder = {}) {
    told_.clear();
    return load_dataset("webvision", {.data_dir = folder.empty() ? folder_.path() : folder,
                                      .image_size = 28,
                                      .tell = [&](const std::string& sentence) { told_.push_back(sentence); }});
  }

  std::string error() {
    return user_error([&] { load(); });
  }

  std::string path(const std::string& name) const { return (folder_.path() / "webvision" / name).string(); }

  TemporaryFolder folder_;
  std::vector<std::string> told_;
};

TEST_F(WebVision, HasTheFirstFiftyClassesAndTwoTestSets) {
  write({3, 0, 2});
  const Dataset dataset = load();
  EXPECT_EQ(dataset.name, "webvision");
  EXPECT_FALSE(dataset.labels_are_true);
  ASSERT_EQ(dataset.classes(), 50);
  EXPECT_EQ(dataset.class_names[7], "animal 7");
  EXPECT_EQ(dataset.validation_count, 0);
  ASSERT_EQ(dataset.train.size(), 150U);
  EXPECT_TRUE(dataset.train.clean.empty());
  EXPECT_EQ(dataset.train.paths.front(), "google/q0001/photo1.jpg");
  for (std::size_t i = 0; i < 150; ++i) EXPECT_EQ(dataset.train.labels[i], static_cast<int>(i / 3));
  ASSERT_EQ(dataset.tests.size(), 2U);
  EXPECT_EQ(dataset.tests[1].name, "test-ilsvrc12");
  for (const TestSet& test : dataset.tests) {
    ASSERT_EQ(test.set.size(), 100U);
    for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(test.set.labels[i], static_cast<int>(i / 2));
  }
  EXPECT_EQ(dataset.test().paths.front(), "val_images_256/val000004.jpg");
  EXPECT_EQ(dataset.tests[1].set.paths.front(), "imagenet/val/n01440764/ILSVRC2012_val_00000004.JPEG");
  // The same photos are in both here.
  EXPECT_EQ(pixels_of(*dataset.tests[0].set.source), pixels_of(*dataset.tests[1].set.source));
}

TEST_F(WebVision, ImageNetMayLieBesideIt) {
  write({1, 0, 1}, "../imagenet");
  for (const auto& folder : {folder_.path(), folder_.path() / "webvision", folder_.path() / "webvision/"}) {
    const Dataset dataset = load(folder);
    ASSERT_EQ(dataset.tests.size(), 2U) << folder;
    EXPECT_EQ(dataset.tests[1].set.size(), 50U);
    EXPECT_EQ(dataset.tests[1].set.paths.front(), "../imagenet/val/n01440764/ILSVRC2012_val_00000002.JPEG");
  }
}

TEST_F(WebVision, GoesOnWithoutImageNetAndSaysSo) {
  write({1, 0, 1}, "");
  EXPECT_EQ(load().tests.size(), 1U);
  EXPECT_EQ(told_[1],
            "no test-ilsvrc12: ILSVRC12's validation images are neither in imagenet/val/CLASS of that folder nor in "
            "imagenet/val/CLASS beside it");
  // A folder that is not sorted into classes is none of it.
  folder_.write("imagenet/val/ILSVRC2012_val_00000001.JPEG", class_photo(1, 1));
  EXPECT_EQ(load().tests.size(), 1U);
}

TEST_F(WebVision, SaysWhatIsMissingOrWrong) {
  EXPECT_EQ(error(), folder_.path().string() +
                         ": there is no info/synsets.txt; fetch WebVision 1.0 and give its folder by --data-dir");
  write({1, 0, 1});
  std::filesystem::remove_all(path("imagenet/val/n01440775"));
  EXPECT_EQ(error(),
            path("imagenet/val/n01440775") + ": no such folder, though other classes have one; give all 50 or none");
  folder_.write("webvision/info/val_filelist.txt", std::string("val000001.jpg 60\n"));
  EXPECT_EQ(error(), path("info/val_filelist.txt") + ": line 1: the label is 60; the classes are 0 to 59");
  folder_.write("webvision/info/val_filelist.txt", std::string("val000001.jpg 55\n"));
  EXPECT_EQ(error(),
            path("info/val_filelist.txt") + ": lists no images of the first 50 classes; is it the right file?");
  folder_.write("webvision/info/synsets.txt", std::string("n01440764 tench, Tinca tinca\n"));
  EXPECT_EQ(error(), path("info/synsets.txt") + ": lists 1 classes; the first 50 are needed");
  for (const char* line : {"n0144x tench", "../up tench", "n01440764", "n01440764 , Tinca"}) {
    folder_.write("webvision/info/synsets.txt", fmt::format("{}\n", line));
    EXPECT_EQ(error(), fmt::format("{}: line 1: '{}' is not a synset and its names, as in n01440764 tench, Tinca tinca",
                                   path("info/synsets.txt"), line));
  }
}

}  // namespace
}  // namespace regroup
