#include "regroup/reproduce/named_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/temporary_folder.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

class NamedFiles : public testing::Test {
 protected:
  /// A grid that names files in each of its places, after these folders were searched.
  Grid found(const std::vector<fs::path>& folders) const {
    Grid grid = parse_grid(R"(settings = { labels = "labels.csv" }
[[block]]
label = "F"
settings = { data = "csv:photos.csv" }
columns = [{ label = "a", noise = "matrix:flips.csv" }]
rows = [{ label = "CE", method = "ce", init-weights = "first.safetensors", trusted = "nowhere.csv" }]
)",
                           "g");
    find_named_files(grid, folders);
    return grid;
  }

  static std::string text(const std::vector<GivenValue>& values, std::size_t i = 0) {
    return std::get<std::string>(values.at(i).value);
  }

  TemporaryFolder folder_;
};

TEST_F(NamedFiles, AreFoundInTheFirstFolderThatHasThem) {
  for (const std::string file :
       {"one/labels.csv", "one/photos.csv", "two/labels.csv", "two/flips.csv", "two/first.safetensors"})
    folder_.write(file, file);
  const fs::path one = folder_.path() / "one", two = folder_.path() / "two";
  const Grid grid = found({one, two});
  EXPECT_EQ(text(grid.values), (one / "labels.csv").string());
  EXPECT_EQ(text(grid.blocks[0].values), "csv:" + (one / "photos.csv").string());
  EXPECT_EQ(text(grid.blocks[0].columns[0].values), "matrix:" + (two / "flips.csv").string());
  EXPECT_EQ(text(grid.blocks[0].rows[0].values), (two / "first.safetensors").string());
  EXPECT_EQ(text(grid.blocks[0].rows[0].values, 1), "nowhere.csv") << "planning the runs tells it";
}

TEST_F(NamedFiles, StayWhereTheGridSaysIfTheyAreThere) {
  folder_.write("first.safetensors", std::string("1"));
  folder_.write("two/first.safetensors", std::string("2"));
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  const Grid grid = found({folder_.path() / "two"});
  fs::current_path(before);
  EXPECT_EQ(text(grid.blocks[0].rows[0].values), "first.safetensors");
}

TEST_F(NamedFiles, OfOtherSettingsThereAreNone) {
  EXPECT_EQ(named_file("data", "folder:photos").file, "");
  EXPECT_EQ(named_file("noise", "symmetric:0.2").file, "");
  EXPECT_EQ(named_file("model", "resnet18").file, "");
}

}  // namespace
}  // namespace regroup
