#include "regroup/data/folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

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
                           "test/cat/1.png", "test/ant/2.png"})
    add_image(folder, name);
  const auto dataset = load(folder);
  EXPECT_EQ(dataset.name, "folder");
  // The order of the bytes has capital letters first.
  EXPECT_EQ(dataset.class_names, (Names{"Zebra", "ant", "cat"}));
  EXPECT_EQ(dataset.train.paths,
            (Names{"train/Zebra/1.jpg", "train/ant/x.Png", "train/cat/a.JPEG", "train/cat/b.png"}));
  EXPECT_EQ(dataset.train.labels, (std::vector<std::int32_t>{0, 1, 2, 2}));
  EXPECT_EQ(dataset.test().paths, (Names{"test/ant/2.png", "test/cat/1.png"}));
  EXPECT_EQ(dataset.test().labels, (std::vector<std::int32_t>{1, 2}));
  EXPECT_TRUE(dataset.train.clean.empty());
  EXPECT_TRUE(dataset.mirrored_is_same);
}

TEST(Folder, TheValidationPartComesBehindTheTrainingImages) {
  for (const std::string name : {"val", "Valid", "VALIDATION", "dev"}) {
    const TemporaryFolder folder;
    for (const char* file : {"Training/b/1.png", "Training/a/1.png", "Testing/a/3.png"}) add_image(folder, file);
    add_image(folder, name + "/b/2.png");
    Names told;
    const auto dataset = load(folder, {.tell = [&](const auto& sentence) { told.push_back(sentence); }});
    EXPECT_EQ(dataset.train.paths, (Names{"Training/a/1.png", "Training/b/1.png", name + "/b/2.png"}));
    EXPECT_EQ(dataset.train.labels, (std::vector<std::int32_t>{0, 1, 1}));
    EXPECT_EQ(dataset.validation_count, 1);
    EXPECT_EQ(dataset.test().paths, Names{"Testing/a/3.png"});
    EXPECT_EQ(told, (Names{folder.path().string() + ": 2 classes; Training/ 2 images, " + name + "/ 1, Testing/ 1",
                           "4 images of 2x2 take 1 MB of memory",
                           "classes with fewer than 10 training images: a (1), b (1)"}));
  }
}

TEST(Folder, FurtherTestSetsHaveNames) {
  const TemporaryFolder folder;
  for (const char* name : {"train/a/1.png", "train/b/2.png", "test-other.2/b/3.png", "test/a/4.png", "Test-New/a/5.png",
                           "Test-New/b/6.png"})
    add_image(folder, name);
  Names told;
  const auto dataset = load(folder, {.tell = [&](const auto& sentence) { told.push_back(sentence); }});
  ASSERT_EQ(dataset.tests.size(), 3U);
  EXPECT_EQ(dataset.tests[0].name, "test");
  EXPECT_EQ(dataset.tests[0].set.paths, Names{"test/a/4.png"});
  EXPECT_EQ(dataset.tests[1].name, "test-New");
  EXPECT_EQ(dataset.tests[1].set.labels, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(dataset.tests[2].name, "test-other.2");
  EXPECT_EQ(dataset.tests[2].set.source->size(), 1U);
  EXPECT_EQ(dataset.tests[2].set.source->shape(), dataset.train.source->shape());
  EXPECT_EQ(told[0], folder.path().string() + ": 2 classes; train/ 2 images, test/ 1, Test-New/ 2, test-other.2/ 1");
}

TEST(Folder, NamesOfTestSetsCanBeNamesOfFilesAndColumns) {
  for (const std::string& name : Names{"test-", "test-a_b", "Test-a,b", "test-" + std::string(60, 'x')}) {
    const TemporaryFolder folder;
    for (const std::string& file : Names{"train/a/1.png", "train/b/2.png", name + "/a/3.png"}) add_image(folder, file);
    EXPECT_EQ(error_of(folder), (folder.path() / name).string() +
                                    ": the name of a test set is test- and letters, digits, dots and dashes, at most "
                                    "64 in all; rename it");
  }
  const TemporaryFolder classes;
  for (const char* file : {"test-a_b/1.png", "test-a_b/2.png", "b/2.png"}) add_image(classes, file);
  EXPECT_EQ(load(classes).class_names, (Names{"b", "test-a_b"})) << "a class may be called so";
}

TEST(Folder, WithoutATestPartOneIsSplitOffEvenIfThereIsAValidationPart) {
  const TemporaryFolder folder;
  for (int i = 0; i < 40; ++i) add_image(folder, (i < 20 ? "train/a/" : "train/b/") + std::to_string(i) + ".png");
  add_image(folder, "val/a/1.png");
  Names told;
  const auto dataset =
      load(folder, {.test_split = 0.1, .tell = [&](const auto& sentence) { told.push_back(sentence); }});
  EXPECT_EQ(dataset.train.size(), 37U);
  EXPECT_EQ(dataset.validation_count, 1);
  EXPECT_EQ(dataset.train.paths.back(), "val/a/1.png");
  EXPECT_EQ(dataset.test().size(), 4U);
  EXPECT_EQ(told, (Names{folder.path().string() + ": 2 classes; train/ 40 images, val/ 1",
                         "no test part: 10 % of each class (4 images) become the test images (--test-split)",
                         "41 images of 2x2 take 1 MB of memory"}));
  told.clear();
  EXPECT_EQ(
      load(folder, {.test_split = 0, .tell = [&](const auto& sentence) { told.push_back(sentence); }}).test().size(),
      0U);
  EXPECT_EQ(told[1], "no test part, and no images become one (--test-split)");
}

TEST(Folder, APartHasOneFolder) {
  const TemporaryFolder folder;
  for (const char* name : {"train/a/1.png", "train/b/1.png", "Val/b/2.png", "validation/b/2.png"})
    add_image(folder, name);
  EXPECT_EQ(error_of(folder),
            folder.path().string() + ": Val/ and validation/ are names of the same part; keep one of them");
}

TEST(Folder, WithoutATestPartAShareOfEachClassBecomesOne) {
  for (const std::string part : {"", "train/"}) {
    const TemporaryFolder folder;
    for (int i = 0; i < 20; ++i) add_image(folder, part + (i < 10 ? "a/" : "b/") + std::to_string(i) + ".png");
    const auto dataset = load(folder, {.test_split = 0.3, .seed = 1});
    EXPECT_EQ(dataset.train.size(), 14U);
    EXPECT_EQ(dataset.test().labels, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1}));
    Names all = dataset.train.paths;
    all.insert(all.end(), dataset.test().paths.begin(), dataset.test().paths.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::unique(all.begin(), all.end()) - all.begin(), 20);
    EXPECT_EQ(load(folder, {.test_split = 0.3, .seed = 1}).test().paths, dataset.test().paths);
    EXPECT_NE(load(folder, {.test_split = 0.3, .seed = 2}).test().paths, dataset.test().paths);
    EXPECT_EQ(load(folder, {.test_split = 0}).test().size(), 0U);
  }
}

TEST(Folder, AClassMayBeCalledTrain) {
  const TemporaryFolder folder;
  for (const char* name : {"train/1.png", "test/1.png", "ship/1.png"}) add_image(folder, name);
  EXPECT_EQ(load(folder).class_names, (Names{"ship", "test", "train"}));
}

TEST(Folder, PartsWithoutClassesAreNotClasses) {
  const TemporaryFolder folder;
  for (const char* name : {"train/1.png", "train/cat/2.png", "Test/3.png"}) add_image(folder, name);
  EXPECT_EQ(error_of(folder), folder.path().string() +
                                  ": Test, train are parts of the data; put the images of each "
                                  "into folders of their classes");
}

TEST(Folder, APartHasImagesInFoldersOfClasses) {
  for (const std::string part : {"test", "val"}) {
    const TemporaryFolder folder;
    for (const char* name : {"train/cat/1.png", "train/dog/2.png"}) add_image(folder, name);
    add_image(folder, part + "/3.png");
    EXPECT_EQ(error_of(folder),
              (folder.path() / part).string() + ": no images in folders of classes; fill or remove this part");
  }
}

TEST(Folder, OtherFilesAreCountedAndHiddenOnesAreIgnored) {
  const TemporaryFolder folder;
  for (const char* name : {"a/1.png", "b/1.png", "a/.2.png", ".git/1.png", "a/.thumbs/1.png"}) add_image(folder, name);
  folder.write("a/notes.txt", std::string("notes"));
  for (const char* name : {"a/x/1.heic", "b/2.Heic", "b/.3.heic", "b/Makefile"}) folder.write(name, std::string("?"));
  folder.write("readme.png", std::string("not in a class"));
  Names told;
  const auto dataset = load(folder, {.test_split = 0, .tell = [&](const auto& sentence) { told.push_back(sentence); }});
  EXPECT_EQ(dataset.train.paths, (Names{"a/1.png", "b/1.png"}));
  EXPECT_EQ(told[0], folder.path().string() + ": 2 classes; 2 images");
  EXPECT_EQ(told[1], "4 files are no JPEG, PNG or WebP and left out: 2 .heic, 1 .txt, 1 without ending");
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
  fs::create_directory(folder.path() / "c");
  const std::string place = (folder.path() / "c").string();
  EXPECT_EQ(error_of(folder), place + ": no JPEG, PNG or WebP files in it; fill or remove this class");
  for (const char* name : {"c/1.gif", "c/2.gif", "c/notes.txt"}) folder.write(name, std::string("no image"));
  EXPECT_EQ(error_of(folder),
            place + ": it has 2 .gif, 1 .txt but no JPEG, PNG or WebP files; convert them or remove this class");
}

TEST(Folder, AtLeastTwoClassesAreNeeded) {
  const TemporaryFolder folder;
  add_image(folder, "1.png");
  const std::string place = folder.path().string();
  EXPECT_EQ(error_of(folder), place + ": no folder is in it; give a place with a folder for each class, at least two");
  add_image(folder, "a/1.png");
  EXPECT_EQ(error_of(folder), place + ": one folder is in it; give a place with a folder for each class, at least two");
}

TEST(Folder, NamesNeedNotBeUtf8) {
  const TemporaryFolder folder;
  for (const char* name : {"\xE9t\xE9/\xFF.png", "hiver/1.png"}) add_image(folder, name);
  const auto dataset = load(folder, {.test_split = 0});
  EXPECT_EQ(dataset.class_names, (Names{"hiver", "\xE9t\xE9"}));
  EXPECT_EQ(dataset.train.paths, (Names{"hiver/1.png", "\xE9t\xE9/\xFF.png"}));
}

TEST(Folder, APlaceThatCannotBeReadIsTheUsersMistake) {
  const std::string name(300, 'x');
  EXPECT_EQ(user_error([&] { load_dataset("folder:" + name); }), name + ": cannot be read: File name too long");
  const auto deep = [] {
    std::string path = "x";
    for (int i = 0; i < 3000; ++i) path += "/x";
    return path;
  }();
  EXPECT_EQ(user_error([&] { load_dataset("folder:" + deep); }), deep + ": cannot be read: File name too long");
  EXPECT_EQ(user_error([&] { list_images(name); }), name + ": cannot be read: File name too long");
  const TemporaryFolder folder;
  fs::create_directory_symlink("circle", folder.path() / "circle");
  const std::string circle = (folder.path() / "circle").string();
  EXPECT_EQ(user_error([&] { load_dataset("folder:" + circle); }), circle + ": no such folder; give folder:PATH");
  EXPECT_EQ(user_error([&] { load_dataset("csv:" + name); }),
            name + ": cannot be opened; does it exist, and may it be read?");
  EXPECT_EQ(user_error([&] { load_dataset("csv:" + circle); }),
            circle + ": cannot be opened; does it exist, and may it be read?");
}

TEST(Folder, AFolderWithoutPermissionIsTheUsersMistake) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const TemporaryFolder folder;
  for (const char* name : {"a/1.png", "b/1.png", "b/closed/1.png"}) add_image(folder, name);
  const auto closed = folder.path() / "b/closed";
  fs::permissions(closed, fs::perms::none);
  EXPECT_EQ(error_of(folder), closed.string() + ": cannot be read: Permission denied");
  EXPECT_EQ(user_error([&] { list_images(folder.path()); }), closed.string() + ": cannot be read: Permission denied");
  fs::permissions(closed, fs::perms::owner_all);
}

TEST(ListImages, GoesThroughFoldersInTheOrderOfTheNames) {
  const TemporaryFolder folder;
  for (const char* name : {"b/2.JPG", "b/1.png", "a.jpeg", ".hidden.png", "b/notes.txt"}) add_image(folder, name);
  fs::create_directory_symlink(folder.path(), folder.path() / "b/around");
  fs::create_directory_symlink("circle", folder.path() / "circle");
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  EXPECT_EQ(list_images(folder.path()), (Names{file("a.jpeg"), file("b/1.png"), file("b/2.JPG")}));
  // Whether a file is there is found when it is opened.
  EXPECT_EQ(list_images(file("none.png")), Names{file("none.png")});
  fs::create_directory(folder.path() / "empty");
  EXPECT_EQ(user_error([&] { list_images(file("empty")); }), file("empty") + ": no JPEG, PNG or WebP files in it");
}

}  // namespace
}  // namespace regroup
