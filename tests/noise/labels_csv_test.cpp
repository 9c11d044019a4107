#include "regroup/noise/labels_csv.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "noise_testing.h"

namespace regroup {
namespace {

TEST(LabelsCsv, HasALineASample) {
  const auto file = std::filesystem::path(testing::TempDir()) / "regroup_labels_csv_test.csv";
  const std::vector<std::int32_t> labels = {3, 0, 12};
  const std::vector<std::int32_t> clean = {3, 1, 2};
  write_labels_csv(file, labels, clean);
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  EXPECT_EQ(text.str(), "index,label,clean\n0,3,3\n1,0,1\n2,12,2\n");
  std::filesystem::remove(file);
}

TEST(LabelsCsv, WhatCannotBeWrittenIsTheUsersMistake) {
  const std::vector<std::int32_t> labels = {1};
  EXPECT_EQ(user_error([&] { write_labels_csv("/nowhere/labels.csv", labels, labels); }),
            "/nowhere/labels.csv: cannot be written; does its folder exist?");
}

}  // namespace
}  // namespace regroup
