#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace regroup {

/// Writes a file piece by piece, whole or not at all: aside in the same folder, and renamed over what was there by
/// finish(). What is not finished is removed again. A link stays, and the file that it leads to is written. Pipes,
/// devices and open descriptors (/dev/stdout) are written to directly. Throws UserError.
class FileWriter {
 public:
  explicit FileWriter(std::filesystem::path file);
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  ~FileWriter();

  void write(std::span<const std::byte> bytes);

  /// The file is on the disk, and not only in the system's memory, before it takes its name.
  void finish();

 private:
  std::filesystem::path file_;    ///< as the messages name it
  std::filesystem::path target_;  ///< behind all links
  std::filesystem::path aside_;   ///< empty where it is written to directly
  int descriptor_ = -1;
};

/// The same in one piece.
void write_file(const std::filesystem::path& file, std::string_view content);

/// The names in a folder are on the disk: a power loss does not undo a rename in it. Where the file system does not
/// know how, nothing happens.
void sync_folder(const std::filesystem::path& folder);

/// Whether writing would replace a file: not so where nothing is, nor for pipes, devices and open descriptors. Throws
/// UserError where it cannot be written at all, such as a folder.
bool would_replace(const std::filesystem::path& file);

}  // namespace regroup
