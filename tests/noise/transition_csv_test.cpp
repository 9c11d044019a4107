#include "regroup/noise/transition_csv.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "noise_testing.h"
#include "support/temporary_folder.h"

namespace regroup {
namespace {

TransitionMatrix read(const std::string& text, int classes) { return parse_transition(text, "t.csv", classes); }

std::string error_of(const std::string& text, int classes) {
  return user_error([&] { read(text, classes); });
}

TEST(TransitionCsv, ReadsRows) {
  const auto matrix = read("0.75,0.25\n0.5, 0.5\n", 2);
  EXPECT_EQ(matrix(0, 0), 0.75);
  EXPECT_EQ(matrix(0, 1), 0.25);
  EXPECT_EQ(matrix(1, 0), 0.5);
}

TEST(TransitionCsv, AcceptsWindowsLinesBlankEndsAndAMissingLastNewline) {
  for (const std::string text : {"1,0\r\n0.5,0.5\r\n", "1,0\n0.5,0.5\n\n \n\r\n", "1,0\n0.5,0.5", "1e0,0\n5e-1,.5\n"}) {
    const auto matrix = read(text, 2);
    EXPECT_EQ(matrix(0, 0), 1) << text;
    EXPECT_EQ(matrix(1, 1), 0.5) << text;
  }
}

TEST(TransitionCsv, ScalesRowsThatAreRoundedAndRefusesOthers) {
  const auto thirds = read("0.3333333,0.3333333,0.3333333\n0,1,0\n0,0,1\n", 3);
  EXPECT_DOUBLE_EQ(thirds(0, 0), 1.0 / 3);
  EXPECT_EQ(error_of("1,0\n0.5,0.499998\n", 2), "t.csv: line 2: the row sums to 0.999998, not to 1");
  EXPECT_EQ(error_of("0,0\n0,1\n", 2), "t.csv: line 1: the row sums to 0, not to 1");
}

TEST(TransitionCsv, ErrorsNameTheLineAndWhatWasFound) {
  EXPECT_EQ(error_of("cat,dog\n1,0\n0,1\n", 2),
            "t.csv: line 1: 'cat' is not a number; give probabilities and no header line");
  EXPECT_EQ(error_of("1,0\n0,1x\n", 2), "t.csv: line 2: '1x' is not a number; give probabilities and no header line");
  EXPECT_EQ(error_of("1,0\n,1\n", 2), "t.csv: line 2: '' is not a number; give probabilities and no header line");
  EXPECT_EQ(error_of("1.5,-0.5\n0,1\n", 2), "t.csv: line 1: 1.5 is not a probability between 0 and 1");
  EXPECT_EQ(error_of("-0.5,1\n0,1\n", 2), "t.csv: line 1: -0.5 is not a probability between 0 and 1");
  EXPECT_EQ(error_of("nan,1\n0,1\n", 2), "t.csv: line 1: nan is not a probability between 0 and 1");
  EXPECT_EQ(error_of("1,0\n\n0,1\n", 2), "t.csv: line 2: the line is blank");
}

TEST(TransitionCsv, MustMatchTheClasses) {
  EXPECT_EQ(error_of("1,0\n0,1\n", 3),
            "t.csv: line 1: 2 columns for 3 classes; give a row and a column for each class");
  EXPECT_EQ(error_of("1,0,0\n0,1,0\n", 2),
            "t.csv: line 1: 3 columns for 2 classes; give a row and a column for each class");
  EXPECT_EQ(error_of("1,0\n0,1\n1,0\n", 2), "t.csv: line 3: a row more than the 2 classes");
  EXPECT_EQ(error_of("1,0\n", 2), "t.csv: 1 rows for 2 classes; give a row and a column for each class");
  EXPECT_EQ(error_of("", 2), "t.csv: 0 rows for 2 classes; give a row and a column for each class");
}

TEST(TransitionCsv, RefusesWhatIsNoCsv) {
  EXPECT_EQ(error_of("1,1" + std::string(2'000'000, '1'), 2),
            "t.csv: line 1: '1" + std::string(59, '1') + "' is not a number; give probabilities and no header line");
  EXPECT_EQ(error_of(std::string("1,0") + '\0' + "5\n0,1\n", 2),
            "t.csv: line 1: it has a zero byte; is it a text file?");
}

TEST(TransitionCsv, AFileMayBeAsLargeAsAMatrixOfItsClassesAndNoLarger) {
  const TemporaryFolder folder;
  const auto file = folder.write("t.csv", "1," + std::string(70'000, '0') + "\n0,1\n");
  EXPECT_EQ(user_error([&] { read_transition(file, 2); }),
            file.string() + ": more than 65792 bytes; is it the right file?");
  EXPECT_EQ(user_error([&] { read_transition(file, 10); }),
            file.string() + ": line 1: 2 columns for 10 classes; give a row and a column for each class");
}

TEST(TransitionCsv, AMissingFileAndAFolderAreErrors) {
  const auto missing = user_error([] { read_transition("/nowhere/t.csv", 2); });
  EXPECT_EQ(missing, "/nowhere/t.csv: cannot be opened; does it exist, and may it be read?");
  const auto folder = std::filesystem::temp_directory_path();
  EXPECT_EQ(user_error([&] { read_transition(folder, 2); }), folder.string() + ": cannot be read; is it a file?");
}

TEST(TransitionCsv, WhatIsWrittenIsReadBack) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "t.csv";
  TransitionMatrix matrix(3);
  matrix(0, 0) = 2.0 / 3;
  matrix(0, 1) = 1.0 / 3;
  matrix(1, 1) = 1;
  write_transition(file, matrix);
  const auto again = read_transition(file, 3);
  EXPECT_EQ(again(2, 2), 1) << "a class without samples";
  for (int from = 0; from < 2; ++from) {
    for (int to = 0; to < 2; ++to) EXPECT_DOUBLE_EQ(again(from, to), matrix(from, to));
  }
}

}  // namespace
}  // namespace regroup
