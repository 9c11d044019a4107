#include "regroup/data/folder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "image_testing.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

using Names = std::vector<std::string>;

void add_image(const TemporaryFolder& folder, const std::string& name) {
  folder.write(name, png_bytes(plain_image({2, 2}, 1, 2, 3)));
}

Dataset load(const TemporaryFolder& folder, LoadOptions options = {}) {
  options.image_size = 2;
  return load_dataset("folder:" + folder.path().string(), options);
}

std::string error_of(const TemporaryFolder& folder) {
  return user_error([&] { load(folder); });
}

TEST(Folder, TrainAndTestHaveAFolderAClass) {
  const TemporaryFolder folder;
  for (const char* name : {"train/cat/b.png", "train/cat/a.JPEG", "train/Zebra/1.jpg", "train/ant/x.Png",
                           "test/cat/1.png", "test/ant/2.png", "val/other/1.png"})
    add_image(folder, name);
  const auto dataset = load(folder);
  EXPECT_EQ(dataset.name, "folder");
  // The order of the bytes has capital letters first.
  EXPECT_EQ(dataset.class_names, (Names{"Zebra", "ant", "cat"}));
  EXPECT_EQ(dataset.train.paths,
            (Names{"train/Zebra/1.jpg", "train/ant/x.Png", "train/cat/a.JPEG", "train/cat/b.png"}));
  EXPECT_EQ(dataset.train.labels, (std::vector<std::int32_t>{0, 1, 2, 2}));
  EXPECT_EQ(dataset.test.paths, (Names{"test/ant/2.png", "test/cat/1.png"}));
  EXPECT_EQ(dataset.test.labels, (std::vector<std::int32_t>{1, 2}));
  EXPECT_TRUE(dataset.train.clean.empty());
  EXPECT_TRUE(dataset.mirrored_is_same);
}

TEST(Folder, ValStandsForAMissingTest) {
  const TemporaryFolder folder;
  for (const char* name : {"train/a/1.png", "train/b/1.png", "val/b/2.png"}) add_image(folder, name);
  EXPECT_EQ(load(folder).test.paths, Names{"val/b/2.png"});
}

TEST(Folder, WithoutATestPartAShareOfEachClassBecomesOne) {
  for (const std::string part : {"", "train/"}) {
    const TemporaryFolder folder;
    for (int i = 0; i < 20; ++i) add_image(folder, part + (i < 10 ? "a/" : "b/") + std::to_string(i) + ".png");
    const auto dataset = load(folder, {.test_split = 0.3, .seed = 1});
    EXPECT_EQ(dataset.train.count, 14);
    EXPECT_EQ(dataset.test.labels, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1}));
    Names all = dataset.train.paths;
    all.insert(all.end(), dataset.test.paths.begin(), dataset.test.paths.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::unique(all.begin(), all.end()) - all.begin(), 20);
    EXPECT_EQ(load(folder, {.test_split = 0.3, .seed = 1}).test.paths, dataset.test.paths);
    EXPECT_NE(load(folder, {.test_split = 0.3, .seed = 2}).test.paths, dataset.test.paths);
    EXPECT_EQ(load(folder, {.test_split = 0}).test.count, 0);
  }
}

TEST(Folder, AClassMayBeCalledTrain) {
  const TemporaryFolder folder;
  for (const char* name : {"train/1.png", "test/1.png", "ship/1.png"}) add_image(folder, name);
  EXPECT_EQ(load(folder).class_names, (Names{"ship", "test", "train"}));
}

TEST(Folder, OtherFilesAndHiddenOnesAreIgnored) {
  const TemporaryFolder folder;
  for (const char* name : {"a/1.png", "b/1.png", "a/.2.png", ".git/1.png", "a/.thumbs/1.png"}) add_image(folder, name);
  folder.write("a/notes.txt", std::string("notes"));
  folder.write("readme.png", std::string("not in a class"));
  const auto dataset = load(folder, {.test_split = 0});
  EXPECT_EQ(dataset.train.paths, (Names{"a/1.png", "b/1.png"}));
}

TEST(Folder, FurtherFoldersBelongToTheClass) {
  const TemporaryFolder folder;
  for (const char* name : {"a/images/1.png", "a/images/deep/2.png", "a/z.png", "b/1.png"}) add_image(folder, name);
  EXPECT_EQ(load(folder, {.test_split = 0}).train.paths,
            (Names{"a/images/1.png", "a/images/deep/2.png", "a/z.png", "b/1.png"}));
}

TEST(Folder, LinksAreFollowedButNotInCircles) {
  const TemporaryFolder folder;
  for (const char* name : {"data/a/1.png", "data/b/1.png", "elsewhere/2.png"}) add_image(folder, name);
  const auto data = folder.path() / "data";
  fs::create_directory_symlink(folder.path() / "elsewhere", data / "a/more");
  fs::create_directory_symlink(folder.path() / "elsewhere", data / "a/more-of-it");
  fs::create_directory_symlink(folder.path() / "elsewhere", data / "c");
  fs::create_directory_symlink(data, data / "a/around");
  fs::create_directory_symlink(".", data / "a/self");
  fs::create_directory_symlink("circle", data / "a/circle");
  fs::create_symlink(data / "a/1.png", data / "b/link.png");
  const auto dataset = load_dataset("folder:" + data.string(), {.image_size = 2, .test_split = 0});
  EXPECT_EQ(dataset.class_names, (Names{"a", "b", "c"}));
  EXPECT_EQ(dataset.train.paths, (Names{"a/1.png", "a/more/2.png", "b/1.png", "b/link.png", "c/2.png"}));
}

TEST(Folder, ALinkToAnImageThatIsGoneIsABadImage) {
  const TemporaryFolder folder;
  for (const char* name : {"a/1.png", "b/1.png"}) add_image(folder, name);
  fs::create_symlink("gone", folder.path() / "b/2.png");
  EXPECT_EQ(error_of(folder), (folder.path() / "b/2.png").string() +
                                  ": cannot be opened; does it exist, is it a file, and may it be read?");
}

TEST(Folder, ATestClassMustBeATrainingClass) {
  const TemporaryFolder folder;
  for (const char* name : {"train/a/1.png", "train/b/1.png", "test/c/1.png"}) add_image(folder, name);
  EXPECT_EQ(error_of(folder), (folder.path() / "test/c").string() +
                                  ": no such class among the training images; fill train/c or remove it");
}

TEST(Folder, AClassWithoutImagesIsAnError) {
  const TemporaryFolder folder;
  for (const char* name : {"a/1.png", "b/1.png"}) add_image(folder, name);
  folder.write("c/notes.txt", std::string("no image"));
  EXPECT_EQ(error_of(folder),
            (folder.path() / "c").string() + ": no JPEG or PNG files in it; fill or remove this class");
}

TEST(Folder, AtLeastTwoClassesAreNeeded) {
  const TemporaryFolder folder;
  add_image(folder, "1.png");
  const std::string place = folder.path().string();
  EXPECT_EQ(error_of(folder), place + ": 0 folders in it; give a place with a folder for each class, at least two");
  add_image(folder, "a/1.png");
  EXPECT_EQ(error_of(folder), place + ": 1 folders in it; give a place with a folder for each class, at least two");
}

}  // namespace
}  // namespace regroup
