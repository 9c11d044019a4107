#include "regroup/core/file.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "regroup/core/error.h"

namespace regroup {
namespace {

class WriteFile : public ::testing::Test {
 protected:
  WriteFile() { std::filesystem::create_directory(folder_); }
  ~WriteFile() override { std::filesystem::remove_all(folder_); }

  static std::string content(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("regroup-file-" + std::to_string(getpid()));
};

TEST_F(WriteFile, ReplacesWhatWasThereAndLeavesNothingElse) {
  const std::string bytes("a\0b\r\n", 5);
  write_file(folder_ / "x", "old and longer");
  write_file(folder_ / "x", bytes);
  EXPECT_EQ(content(folder_ / "x"), bytes);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(WriteFile, PiecesAreSeenWhenTheyAreFinishedAndNotBefore) {
  write_file(folder_ / "x", "old");
  const auto bytes = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  {
    FileWriter writer(folder_ / "x");
    writer.write(bytes("first, "));
    writer.write({});
    writer.write(bytes("second"));
    EXPECT_EQ(content(folder_ / "x"), "old");
    writer.finish();
    EXPECT_EQ(content(folder_ / "x"), "first, second");
  }
  {
    FileWriter unfinished(folder_ / "x");
    unfinished.write(bytes("third"));
  }
  EXPECT_EQ(content(folder_ / "x"), "first, second");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(WriteFile, NamesTheFileThatCannotBeWritten) {
  for (const auto& file : {folder_ / "missing" / "x", folder_, std::filesystem::path("/dev/null")}) {
    try {
      write_file(file, "text");
      FAIL() << file;
    } catch (const UserError& error) {
      EXPECT_EQ(std::string(error.what()).rfind(file.string(), 0), 0U) << error.what();
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

}  // namespace
}  // namespace regroup
