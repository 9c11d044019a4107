#include "regroup/data/csv_dataset.h"

#include <gtest/gtest.h>

#include "data/made_images.h"
#include "image_testing.h"

namespace regroup {
namespace {

using Names = std::vector<std::string>;

std::string error_of(const std::string& text) {
  return user_error([&] { parse_manifest(text, "f.csv"); });
}

TEST(CsvDataset, LoadsTheFilesThatItLists) {
  const TemporaryFolder folder;
  folder.write("images/one, two.png", png_bytes(plain_image({2, 2}, 1, 1, 1)));
  folder.write("images/b.png", png_bytes(plain_image({2, 2}, 2, 2, 2)));
  folder.write("t.png", png_bytes(plain_image({2, 2}, 3, 3, 3)));
  const auto file = folder.write("list.csv", std::string("split,label,path,clean\r\n"
                                                         "train,dog,\"images/one, two.png\",cat\r\n"
                                                         "test,cat,t.png,\r\n"
                                                         "train,cat,images/b.png,\r\n"));
  const auto dataset = load_dataset("csv:" + file.string(), {.image_size = 2});
  EXPECT_EQ(dataset.name, "csv");
  EXPECT_EQ(dataset.class_names, (Names{"cat", "dog"}));
  EXPECT_EQ(dataset.train.paths, (Names{"images/one, two.png", "images/b.png"}));
  EXPECT_EQ(dataset.train.labels, (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(dataset.train.clean, (std::vector<std::int32_t>{0, -1}));
  EXPECT_EQ(pixels_of(*dataset.train.source), Bytes(12, 1) + Bytes(12, 2));
  EXPECT_EQ(dataset.test().labels, std::vector<std::int32_t>{0});
  EXPECT_TRUE(dataset.test().clean.empty());
}

TEST(CsvDataset, WithoutTestImagesSomeAreSplitOff) {
  const TemporaryFolder folder;
  std::string text = "path,label\n";
  for (int i = 0; i < 10; ++i) {
    const auto name = std::to_string(i) + ".png";
    folder.write(name, png_bytes(plain_image({2, 2}, 1, 1, 1)));
    text += name + (i % 2 == 0 ? ",even\n" : ",odd\n");
  }
  const auto dataset =
      load_dataset("csv:" + folder.write("list.csv", text).string(), {.image_size = 2, .test_split = 0.2});
  EXPECT_EQ(dataset.train.size(), 8U);
  EXPECT_EQ(dataset.test().size(), 2U);
  EXPECT_NE(dataset.test().labels[0], dataset.test().labels[1]);
}

TEST(CsvDataset, AMissingImageIsNamedByItsWholePath) {
  const TemporaryFolder folder;
  const auto file = folder.write("list.csv", std::string("path,label\na.png,0\nb.png,1\n"));
  EXPECT_EQ(
      user_error([&] { load_dataset("csv:" + file.string(), {.test_split = 0}); }),
      (folder.path() / "a.png").string() + ": cannot be opened; does it exist, is it a file, and may it be read?");
}

TEST(CsvDataset, NumbersFromZeroAreTheClassesThemselves) {
  std::string text = "path,label\n";
  for (const int label : {10, 2, 0, 1, 3, 4, 5, 6, 7, 8, 9}) text += "x," + std::to_string(label) + "\n";
  const auto numbers = parse_manifest(text, "f.csv");
  EXPECT_EQ(numbers.class_names.size(), 11U);
  EXPECT_EQ(numbers.images.train[0].label, 10);
  EXPECT_EQ(numbers.images.train[1].label, 2);
  // Where one is missing, or is written otherwise, they are names.
  EXPECT_EQ(parse_manifest("path,label\nx,1\nx,10\nx,2\n", "f.csv").class_names, (Names{"1", "10", "2"}));
  EXPECT_EQ(parse_manifest("path,label\nx,0\nx,01\n", "f.csv").class_names, (Names{"0", "01"}));
}

TEST(CsvDataset, PartsHaveTheirUsualNames) {
  std::string text = "File,Label,Split,score\n";
  for (const char* part : {"train", "Training"}) text += std::string("x,a,") + part + ",\nx,b," + part + ",\n";
  for (const char* part : {"val", "VALID", "validation", "dev"}) text += std::string("y,a,") + part + ",\n";
  for (const char* part : {"Test", "testing", "test-more"}) text += std::string("z,b,") + part + ",\n";
  std::vector<std::string> told;
  const auto manifest = parse_manifest(text, "f.csv", [&](const std::string& sentence) { told.push_back(sentence); });
  EXPECT_EQ(manifest.images.train.size(), 4U);
  EXPECT_EQ(manifest.images.validation.size(), 4U);
  EXPECT_EQ(manifest.images.tests.at("test").size(), 2U);
  EXPECT_EQ(manifest.images.tests.at("test-more").size(), 1U);
  EXPECT_EQ(manifest.images.validation[1].path, "y");
  EXPECT_EQ(told, Names{"f.csv: columns that are not used: score"});
}

TEST(CsvDataset, SaysFileLineAndWhatIsWrong) {
  EXPECT_EQ(error_of(""), "f.csv: the file is empty; give lines of path,label");
  EXPECT_EQ(error_of("a.png,3\n"),
            "f.csv: line 1: no column 'path' in 'a.png,3'; the first line has to name the columns: path, label, clean, "
            "split");
  EXPECT_EQ(error_of("path,label\na,0\nb\n"),
            "f.csv: line 3: 1 fields where the first line has 2; give one for each column");
  EXPECT_EQ(error_of("path,label\n,0\n"), "f.csv: line 2: the path is empty");
  EXPECT_EQ(error_of("path,label\na,\n"), "f.csv: line 2: the label is empty");
  EXPECT_EQ(error_of("path,label,split\na,0,train\nb,1,both\n"),
            "f.csv: line 3: the split is 'both'; give train, val, test or test-NAME");
  EXPECT_EQ(error_of("path,label\na,0\nb,0\n"),
            "f.csv: the training images have 1 different labels; give at least two");
  EXPECT_EQ(error_of("path,label,split\na,x,train\nb,y,train\nc,z,test\n"),
            "f.csv: line 4: no training image has the label 'z'; the classes are those that one has");
  EXPECT_EQ(error_of("path,label,clean\na,x,\nb,y,z\n"),
            "f.csv: line 3: no training image has the label 'z'; the classes are those that one has");
}

}  // namespace
}  // namespace regroup
