#include "regroup/data/labels_file.h"

#include <gtest/gtest.h>

#include "data_testing.h"
#include "regroup/data/npy.h"

namespace regroup {
namespace {

using Labels = std::vector<std::int32_t>;
using Indexes = std::vector<std::uint32_t>;

const std::vector<std::string> animals{"cat", "dog", "2", "guinea, pig"};

LabelsFile parse(const std::string& text, std::size_t count = 3) { return parse_labels(text, "f.csv", count, animals); }

std::string error_of(const std::string& text, std::size_t count = 3) {
  return user_error([&] { parse(text, count); });
}

TEST(LabelsFile, ATableIsInAnyOrder) {
  const auto file = parse("label,clean,index\n1,0,2\ncat,,0\n\"guinea, pig\",dog,1\n");
  EXPECT_EQ(file.labels, (Labels{0, 3, 1}));
  EXPECT_EQ(file.clean, (Labels{-1, 1, 0}));
  EXPECT_TRUE(parse("index,label\n0,0\n1,1\n2,2\n").clean.empty());
  EXPECT_TRUE(parse("index,label,clean\n0,0,\n1,1,\n2,2,\n").clean.empty());
}

TEST(LabelsFile, AListHasALabelALine) {
  EXPECT_EQ(parse("dog\n0\n\"guinea, pig\"\n\n").labels, (Labels{1, 0, 3}));
  EXPECT_EQ(parse("3\r\n2\r\n1").labels, (Labels{3, 2, 1}));
  EXPECT_TRUE(parse("3\n2\n1\n").clean.empty());
}

TEST(LabelsFile, ANumberIsANumberEvenIfAClassIsCalledSo) {
  const std::vector<std::string> names{"1", "0", "7"};
  EXPECT_EQ(parse_labels("0\n1\n7\n", "f", 3, names).labels, (Labels{0, 1, 2}));
}

TEST(LabelsFile, EachImageHasOneLabel) {
  EXPECT_EQ(error_of("0\n1\n"), "f.csv: 2 labels for 3 images; give one line an image");
  EXPECT_EQ(error_of("0\n1\n0\n1\n"), "f.csv: 4 labels for 3 images; give one line an image");
  EXPECT_EQ(error_of(""), "f.csv: 0 labels for 3 images; give one line an image");
  EXPECT_EQ(error_of("index,label\n0,1\n2,1\n"),
            "f.csv: 2 labels for 3 images (none for image 1); give one line an image");
  EXPECT_EQ(error_of("index,label\n0,1\n2,1\n0,1\n"), "f.csv: line 4: index 0 comes twice; give one line an image");
  EXPECT_EQ(error_of("index,label\n3,1\n"), "f.csv: line 2: index 3 is outside 0 .. 2; is the file for this dataset?");
  EXPECT_EQ(error_of("index,label\n-1,1\n"),
            "f.csv: line 2: index -1 is outside 0 .. 2; is the file for this dataset?");
  EXPECT_EQ(error_of("index,label\n99999999999999999999,1\n"),
            "f.csv: line 2: index '99999999999999999999' is not a whole number");
}

TEST(LabelsFile, LabelsMustBeClasses) {
  const std::string rest = " is neither a number from 0 to 3 nor the name of a class";
  EXPECT_EQ(error_of("0\n4\n0\n"), "f.csv: line 2: label '4'" + rest);
  EXPECT_EQ(error_of("0\n-1\n0\n"), "f.csv: line 2: label '-1'" + rest);
  EXPECT_EQ(error_of("0\n\n0\n"), "f.csv: line 2: label ''" + rest);
  EXPECT_EQ(error_of("label\n0\n0\n0\n"), "f.csv: line 1: label 'label'" + rest);
  EXPECT_EQ(error_of("index,label,clean\n0,0,horse\n"), "f.csv: line 2: label 'horse'" + rest);
  EXPECT_EQ(error_of("0,1\n"),
            "f.csv: line 1: 2 fields; give one label a line, or index,label and these words as the first line");
  EXPECT_EQ(error_of("index,lable\n0,0\n"), "f.csv: line 1: unknown column 'lable'; known: index, label, clean");
  EXPECT_EQ(error_of("index,label\n0\n"),
            "f.csv: line 2: 1 fields where the first line has 2; give one for each column");
}

TEST(LabelsFile, ReadsFilesAndArrays) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_labels(folder.write("l.txt", std::string("\xEF\xBB\xBF"
                                                          "dog\n0\n0\n")),
                        3, animals)
                .labels,
            (Labels{1, 0, 0}));
  const std::string packed = "index,label\n0,1\n";
  EXPECT_EQ(read_labels(folder.write("l.csv.gz", gzip(Bytes(packed.begin(), packed.end()))), 1, animals).labels,
            Labels{1});
  const auto file = folder.path() / "l.npy";
  write_npy(file, std::vector<std::int64_t>{3, 0, 1}, std::vector<std::size_t>{3});
  EXPECT_EQ(read_labels(file, 3, animals).labels, (Labels{3, 0, 1}));
  EXPECT_EQ(user_error([&] { read_labels(file, 4, animals); }),
            file.string() + ": 3 labels for 4 images; give one line an image");
  write_npy(file, std::vector<std::int32_t>{3, 0, 4}, std::vector<std::size_t>{3});
  EXPECT_EQ(user_error([&] { read_labels(file, 3, animals); }),
            file.string() + ": label 4 of image 2 is outside 0 .. 3");
  write_npy(file, std::vector<std::int32_t>{3, 0, 1}, std::vector<std::size_t>{1, 3});
  EXPECT_EQ(user_error([&] { read_labels(file, 3, animals); }),
            file.string() + ": an array of 2 dimensions; give one of 1 dimension");
}

TEST(Trusted, AreIndexesALineOrAColumn) {
  EXPECT_EQ(parse_trusted("7\n0\n3\n", "f", 8), (Indexes{0, 3, 7}));
  EXPECT_EQ(parse_trusted("index\n7\n0\n", "f", 8), (Indexes{0, 7}));
  EXPECT_EQ(parse_trusted("score,index\n0.5,7\nx,0\n", "f", 8), (Indexes{0, 7}));
  const TemporaryFolder folder;
  const auto file = folder.path() / "t.npy";
  write_npy(file, std::vector<std::int64_t>{2, 1}, std::vector<std::size_t>{2});
  EXPECT_EQ(read_trusted(file, 3), (Indexes{1, 2}));
  EXPECT_EQ(user_error([&] { read_trusted(file, 2); }),
            file.string() + ": index 2 is outside 0 .. 1; is the file for this dataset?");
  EXPECT_EQ(read_trusted(folder.write("t.txt", std::string("1\n")), 2), Indexes{1});
}

TEST(Trusted, SaysWhatIsWrong) {
  const auto error = [](const std::string& text) { return user_error([&] { parse_trusted(text, "f", 8); }); };
  EXPECT_EQ(error(""), "f: no index in it; give the position of an image a line");
  EXPECT_EQ(error("index\n"), "f: no index in it; give the position of an image a line");
  EXPECT_EQ(error("1\n2\n1\n"), "f: index 1 comes twice; give it once");
  EXPECT_EQ(error("1\n8\n"), "f: line 2: index 8 is outside 0 .. 7; is the file for this dataset?");
  EXPECT_EQ(error("1\nx\n"), "f: line 2: index 'x' is not a whole number");
  EXPECT_EQ(error("1,2\n"),
            "f: line 1: no column 'index'; give a first line that names the columns, or one index a line");
}

}  // namespace
}  // namespace regroup
