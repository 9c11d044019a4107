#include "regroup/core/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "regroup/core/error.h"

namespace regroup {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, int error) {
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    throw UserError(fmt::format("{}: could not be written to the end; is the disk full?", file.string()));
  }
  throw UserError(fmt::format("{}: cannot be written: {}", file.string(), std::generic_category().message(error)));
}

}  // namespace

FileWriter::FileWriter(std::filesystem::path file) : file_(std::move(file)), aside_(file_) {
  // A rename would replace a device such as /dev/null.
  std::error_code unknown;
  if (std::filesystem::exists(file_, unknown) && !std::filesystem::is_regular_file(file_, unknown)) {
    throw UserError(fmt::format("{}: cannot be written; it is no regular file", file_.string()));
  }
  // The process number keeps two programs that write the same file out of each other's way.
  aside_ += fmt::format(".{}.part", getpid());
  descriptor_ = open(aside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    throw UserError(fmt::format("{}: cannot be written; does its folder exist?", file_.string()));
  }
}

FileWriter::~FileWriter() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(aside_.c_str());
}

void FileWriter::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    // Linux writes at most 2 GiB at once.
    const ssize_t done = ::write(descriptor_, bytes.data(), std::min<std::size_t>(bytes.size(), 1U << 30));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(file_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

void FileWriter::finish() {
  // Some file systems do not know how to sync, which is no reason to lose the file.
  if (fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOSYS) fail(file_, errno);
  if (std::rename(aside_.c_str(), file_.c_str()) != 0) fail(file_, errno);
  close(std::exchange(descriptor_, -1));
}

void write_file(const std::filesystem::path& file, std::string_view content) {
  FileWriter writer(file);
  writer.write(std::as_bytes(std::span(content)));
  writer.finish();
}

void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

}  // namespace regroup
