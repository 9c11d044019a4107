#include "regroup/core/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include "regroup/core/error.h"

namespace regroup {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, int error) {
  if (error == ENOSPC || error == EDQUOT || error == EFBIG)
    throw UserError(fmt::format("{}: could not be written to the end; is the disk full?", file.string()));
  if (error == ENOENT || error == ENOTDIR)
    throw UserError(fmt::format("{}: cannot be written; does its folder exist?", file.string()));
  throw UserError(fmt::format("{}: cannot be written: {}", file.string(), std::generic_category().message(error)));
}

/// What a path leads to.
struct Target {
  std::filesystem::path path;     ///< behind all links
  std::optional<int> descriptor;  ///< an open one that it names, as /dev/stdout does
  std::optional<struct stat> found;

  /// A rename would put a file in its place.
  bool is_direct() const { return descriptor || (found && !S_ISREG(found->st_mode)); }
};

/// /dev/fd/3: opening that anew would write from the beginning of the file that it leads to.
std::optional<int> descriptor_named(const std::filesystem::path& path) {
  const std::string folder = path.parent_path(), name = path.filename();
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number = error == std::errc() && end == name.data() + name.size() && number >= 0;
  return is_number && (folder == "/dev/fd" || folder == "/proc/self/fd") ? std::optional(number) : std::nullopt;
}

Target target_of(const std::filesystem::path& file) {
  Target target{file, {}, {}};
  struct stat found {};
  if (stat(file.c_str(), &found) == 0) {
    target.found = found;
    if (S_ISDIR(found.st_mode)) throw UserError(fmt::format("{}: cannot be written; it is a folder", file.string()));
  } else if (errno != ENOENT) {
    fail(file, errno);
  }
  // Also a link to a file that is not there yet; stat has found out about those that lead in a circle.
  std::error_code none;
  while (!(target.descriptor = descriptor_named(target.path)) && std::filesystem::is_symlink(target.path, none))
    target.path = target.path.parent_path() / std::filesystem::read_symlink(target.path);
  return target;
}

}  // namespace

FileWriter::FileWriter(std::filesystem::path file) : file_(std::move(file)) {
  const Target target = target_of(file_);
  if (target.is_direct()) {
    descriptor_ = target.descriptor ? fcntl(*target.descriptor, F_DUPFD_CLOEXEC, 0)
                                    : open(file_.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  } else {
    target_ = target.path;
    // The process number keeps two programs that write the same file out of each other's way. A name has at most 255
    // bytes.
    const std::string name = target_.filename().string().substr(0, 230) + fmt::format(".{}.part", getpid());
    aside_ = target_.parent_path() / name;
    descriptor_ = open(aside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  if (descriptor_ < 0) fail(file_, errno);
  // Who may read the file stays as it was, where the file system knows of that.
  if (!aside_.empty() && target.found) std::ignore = fchmod(descriptor_, target.found->st_mode & 07777);
}

FileWriter::~FileWriter() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  if (!aside_.empty()) unlink(aside_.c_str());
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
  if (!aside_.empty()) {
    // Some file systems do not know how to sync, which is no reason to lose the file.
    if (fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOSYS) fail(file_, errno);
    if (std::rename(aside_.c_str(), target_.c_str()) != 0) fail(file_, errno);
  }
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

bool would_replace(const std::filesystem::path& file) {
  const Target target = target_of(file);
  return target.found && !target.is_direct();
}

}  // namespace regroup
