#include "regroup/core/file.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
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
  std::filesystem::create_symlink("circle", folder_ / "circle");
  write_file(folder_ / "file", "");
  for (const auto& file : {folder_ / "missing" / "x", folder_, folder_ / "circle", folder_ / "file" / "x",
                           folder_ / std::string(300, 'x'), std::filesystem::path("/dev/full")}) {
    try {
      write_file(file, "text");
      FAIL() << file;
    } catch (const UserError& error) {
      EXPECT_EQ(std::string(error.what()).rfind(file.string(), 0), 0U) << error.what();
    }
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 2);
}

TEST_F(WriteFile, ALinkStaysAndWhatItLeadsToIsWritten) {
  std::filesystem::create_directory(folder_ / "there");
  write_file(folder_ / "there" / "file", "old");
  std::filesystem::create_symlink("there/file", folder_ / "near");
  std::filesystem::create_symlink(folder_ / "near", folder_ / "far");
  std::filesystem::create_symlink("there/new", folder_ / "dangling");
  write_file(folder_ / "far", "text");
  write_file(folder_ / "dangling", "new text");
  for (const char* link : {"near", "far", "dangling"}) EXPECT_TRUE(std::filesystem::is_symlink(folder_ / link));
  EXPECT_EQ(content(folder_ / "there" / "file"), "text");
  EXPECT_EQ(content(folder_ / "there" / "new"), "new text");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "there"), {}), 2);
}

TEST_F(WriteFile, PipesAndDevicesAreWrittenToAndStay) {
  write_file("/dev/null", "text");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));

  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  write_file(pipe, "text");
  std::string text(10, ' ');
  EXPECT_EQ(read(reader, text.data(), text.size()), 4);
  close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST_F(WriteFile, AnOpenDescriptorIsWrittenToFromWhereItStands) {
  const int opened = open((folder_ / "x").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(write(opened, "before ", 7), 7);
  write_file("/dev/fd/" + std::to_string(opened), "text");
  ASSERT_EQ(write(opened, " after", 6), 6);
  close(opened);
  EXPECT_EQ(content(folder_ / "x"), "before text after");
}

TEST_F(WriteFile, WhoMayReadTheFileStaysAsItWas) {
  write_file(folder_ / "x", "old");
  std::filesystem::permissions(folder_ / "x", std::filesystem::perms(0640));
  write_file(folder_ / "x", "new");
  EXPECT_EQ(std::filesystem::status(folder_ / "x").permissions(), std::filesystem::perms(0640));
}

TEST_F(WriteFile, ALongNameIsWrittenToo) {
  const std::string name(255, 'x');
  write_file(folder_ / name, "text");
  EXPECT_EQ(content(folder_ / name), "text");
}

TEST_F(WriteFile, OnlyFilesAreReplaced) {
  write_file(folder_ / "x", "old");
  std::filesystem::create_symlink("x", folder_ / "link");
  std::filesystem::create_symlink("nothing", folder_ / "dangling");
  EXPECT_TRUE(would_replace(folder_ / "x"));
  EXPECT_TRUE(would_replace(folder_ / "link"));
  EXPECT_FALSE(would_replace(folder_ / "dangling"));
  EXPECT_FALSE(would_replace(folder_ / "nothing"));
  EXPECT_FALSE(would_replace("/dev/null"));
  EXPECT_FALSE(would_replace("/dev/stdout"));
  for (const auto& file : {folder_, folder_ / std::string(300, 'x')}) EXPECT_THROW(would_replace(file), UserError);
}

}  // namespace
}  // namespace regroup
