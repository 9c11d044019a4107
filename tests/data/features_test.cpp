#include "regroup/data/features.h"

#include <gtest/gtest.h>

#include "regroup/data/vectors.h"
#include "support/vector_files.h"

namespace regroup {
namespace {

using Words = std::vector<std::string>;

RowTable parse(const std::string& text, std::size_t rows) { return parse_row_table(text, "y.csv", rows, {}); }

std::string error_of(const std::string& text, std::size_t rows) {
  return user_error([&] { parse(text, rows); });
}

TEST(RowTable, HasALabelPerRowInTheOrderOfTheRowsOrByIndex) {
  EXPECT_EQ(parse("cat\ndog\n", 2).labels, (Words{"cat", "dog"}));
  EXPECT_EQ(parse("label\ncat\ndog\n", 2).labels, (Words{"cat", "dog"}));
  const RowTable table = parse("text,index,label,clean\n\"a, b\",1,cat,\nc,0,dog,cat\n", 2);
  EXPECT_EQ(table.labels, (Words{"dog", "cat"}));
  EXPECT_EQ(table.clean, (Words{"cat", ""}));
  EXPECT_EQ(table.texts, (Words{"c", "a, b"}));
  EXPECT_TRUE(table.paths.empty());
}

TEST(RowTable, IsRefusedWhereItDoesNotFit) {
  EXPECT_TRUE(has(error_of("cat\n", 2), "y.csv: 1 lines for 2 vectors"));
  EXPECT_TRUE(has(error_of("cat\ndog\nowl\n", 2), "3 lines for 2 vectors"));
  EXPECT_TRUE(has(error_of("label\ncat\ndog\nowl\n", 2), "3 lines for 2 vectors"));
  EXPECT_TRUE(has(error_of("", 2), "0 lines"));
  EXPECT_TRUE(has(error_of("index,label\n0,cat\n0,dog\n", 2), "line 3: row 0 comes twice"));
  EXPECT_TRUE(has(error_of("index,label\n0,cat\n2,dog\n", 2), "index '2' is none of a row, 0 to 1"));
  EXPECT_TRUE(has(error_of("index,label\n0,cat\n-1,dog\n", 2), "index '-1'"));
  EXPECT_TRUE(has(error_of("label\ncat\n\"\"\n", 2), "the label is empty"));
  EXPECT_TRUE(has(error_of("cat,1\ndog,2\n", 2), "2 fields and no column label"));
}

TEST(RowTexts, AreAColumnOrALineEach) {
  EXPECT_EQ(parse_row_texts("a\nb, c\n", "t", 2), (Words{"a", "b, c"}));
  EXPECT_EQ(parse_row_texts("index,text\n1,x\n0,\"y\nz\"\n", "t", 2), (Words{"y\nz", "x"}));
  EXPECT_TRUE(has(user_error([] { parse_row_texts("a\n", "t", 2); }), "1 lines for 2 vectors"));
}

TEST(ClassNames, OfNumbersAreInTheirOrder) {
  EXPECT_EQ(classes_of({"10", "9", "2", "9"}), (Words{"2", "9", "10"}));
  EXPECT_EQ(classes_of({"b", "10", "9"}), (Words{"10", "9", "b"}));
}

class Features : public testing::Test {
 protected:
  Dataset load(const std::string& place = "", LoadOptions options = {}) const {
    const auto& all = datasets();
    const auto info = std::find_if(all.begin(), all.end(), [](const auto& row) { return row.name == "features"; });
    return load_features(place.empty() ? folder_.path() : folder_.path() / place, *info, options);
  }
  std::string error(const std::string& place = "", const LoadOptions& options = {}) const {
    return user_error([&] { load(place, options); });
  }
  void write(const std::string& name, const std::vector<float>& values) {
    folder_.write(name, npy_table(values.size() / 2, 2, values));
  }
  void write_text(const std::string& name, const std::string& text) {
    folder_.write(name, Bytes(text.begin(), text.end()));
  }

  TemporaryFolder folder_;
};

TEST_F(Features, OfAFolderHaveItsParts) {
  write("train.npy", {1, 2, 3, 4, 5, 6});
  write_text("train.csv", "label,clean,text\nowl,cat,hoots\ncat,,purrs\nowl,owl,flies\n");
  write("valid.npy", {7, 8});
  write_text("valid.csv", "label\ncat\n");
  write("test.npy", {9, 10});
  write_text("test.csv", "label\nowl\n");
  write("test-hard.npy", {11, 12});
  write_text("test-hard.csv", "label,path\ncat,a.jpg\n");
  write("other.npy", {0, 0});
  std::string told;
  LoadOptions options;
  options.texts = true;
  options.tell = [&](const std::string& sentence) { told += sentence + "\n"; };
  const Dataset data = load("", options);
  EXPECT_EQ(data.class_names, (Words{"cat", "owl"}));
  EXPECT_EQ(data.train.labels, (std::vector<std::int32_t>{1, 0, 1, 0}));
  EXPECT_EQ(data.train.clean, (std::vector<std::int32_t>{0, -1, 1, -1}));
  EXPECT_EQ(data.train.texts, (Words{"hoots", "purrs", "flies", ""}));
  EXPECT_EQ(data.validation_count, 1);
  EXPECT_FALSE(data.labels_are_true);
  SampleScratch scratch;
  std::vector<float> row(2);
  read_numbers(data.train.source->read(3, scratch), row);
  EXPECT_EQ(row, (std::vector<float>{7, 8})) << "validation vectors are at the end";
  EXPECT_EQ(data.test().labels, (std::vector<std::int32_t>{1}));
  ASSERT_EQ(data.tests.size(), 2U);
  EXPECT_EQ(data.tests[1].name, "test-hard");
  EXPECT_EQ(data.tests[1].set.paths, (Words{"a.jpg"}));
  EXPECT_TRUE(has(told, "other.npy"));
  EXPECT_TRUE(has(told, "2 classes; vectors of 2 numbers: test 1, test-hard 1, train 3, val 1"));
  EXPECT_TRUE(load().train.texts.empty()) << "not asked for";
}

TEST_F(Features, HaveTheNamesOfClassesTxt) {
  write("train.npy", {1, 2, 3, 4, 5, 6});
  write_text("train.csv", "label\n2\n0\nlynx\n");
  write_text("classes.txt", "cat\nlynx\nowl\n");
  const Dataset data = load();
  EXPECT_EQ(data.class_names, (Words{"cat", "lynx", "owl"}));
  EXPECT_EQ(data.train.labels, (std::vector<std::int32_t>{2, 0, 1}));
  write_text("train.csv", "label\n2\n3\nlynx\n");
  EXPECT_TRUE(has(error(), "row 1 has the label '3', and classes.txt has 3 names"));
  write_text("classes.txt", "cat\ncat\n");
  EXPECT_TRUE(has(error(), "classes.txt: line 2"));
}

TEST_F(Features, OfAFileHaveTheLabelsOfAnother) {
  write("x.npy", {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(has(error("x.npy"), "vectors without labels; give --labels FILE"));
  LoadOptions options;
  options.labels = folder_.path() / "y.csv";
  write_text("y.csv", "label\n7\n3\n7\n");
  const Dataset data = load("x.npy", options);
  EXPECT_EQ(data.class_names, (Words{"3", "7"}));
  EXPECT_EQ(data.train.labels, (std::vector<std::int32_t>{1, 0, 1}));
  EXPECT_TRUE(data.has_file_labels);
  EXPECT_EQ(data.test().size(), 0U);
  write_npy(folder_.path() / "y.npy", std::vector<std::int64_t>{1, 1, 0}, std::vector<std::size_t>{3});
  options.labels = folder_.path() / "y.npy";
  EXPECT_EQ(load("x.npy", options).train.labels, (std::vector<std::int32_t>{1, 1, 0}));
  write_text("y.csv", "label\n7\n7\n7\n");
  options.labels = folder_.path() / "y.csv";
  EXPECT_TRUE(has(error("x.npy", options), "all labels are the same"));
}

TEST_F(Features, ThatDoNotFitAreRefusedInOneSentence) {
  EXPECT_TRUE(has(error(), "there is no train.npy in it"));
  write("x.npy", {1, 2});
  EXPECT_TRUE(has(error(), "there is no train.npy in it, but x.npy"));
  write("train.npy", {1, 2, 3, 4});
  EXPECT_TRUE(has(error(), "train.npy: has no labels beside it; give train.csv"));
  write_text("train.csv", "label\na\nb\n");
  folder_.write("test.npy", npy_table(1, 3, {1, 2, 3}));
  write_text("test.csv", "label\na\n");
  EXPECT_TRUE(has(error(), "test.npy: vectors of 3 numbers, and those of"));
  write("test.npy", {1, 2});
  write_text("test.csv", "label\nc\n");
  EXPECT_TRUE(has(error(), "row 0 has the label 'c', which no training vector has"));
  write_text("test.csv", "label\na\n");
  EXPECT_EQ(load().test().size(), 1U);
  write("training.npy", {1, 2});
  write_text("training.csv", "label\na\n");
  EXPECT_TRUE(has(error(), "two files of the part train"));
  EXPECT_TRUE(has(error("nowhere"), "does not exist"));
}

}  // namespace
}  // namespace regroup
