#include "regroup/data/image_bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "regroup/core/error.h"

namespace regroup {
namespace {

class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& file) {
    // A pipe or a device is not opened: it may never end, or never begin.
    struct stat status {};
    if (stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    descriptor_ = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    size_ = static_cast<std::uintmax_t>(status.st_size);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (is_open()) close(descriptor_);
  }

  bool is_open() const { return descriptor_ >= 0; }
  std::uintmax_t size() const { return size_; }

  /// The number of bytes that were there; -1: an error.
  ssize_t read(std::uintmax_t at, std::uint8_t* into, std::size_t count) const {
    ssize_t got;
    do {
      got = pread(descriptor_, into, count, static_cast<off_t>(at));
    } while (got < 0 && errno == EINTR);
    return got;
  }

 private:
  int descriptor_ = -1;
  std::uintmax_t size_ = 0;
};

}  // namespace

std::uintmax_t read_bytes(const std::filesystem::path& file, std::uintmax_t begin, std::uintmax_t count,
                          std::vector<std::uint8_t>& bytes) {
  const OpenFile open(file);
  if (!open.is_open()) {
    throw UserError(
        fmt::format("{}: cannot be opened; does it exist, is it a file, and may it be read?", file.string()));
  }
  const std::uintmax_t size = open.size();
  if (size > max_image_file_bytes) {
    throw UserError(
        fmt::format("{}: {} bytes; an image file has at most {}", file.string(), size, max_image_file_bytes));
  }
  bytes.resize(static_cast<std::size_t>(std::min(size - std::min(begin, size), count)));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = open.read(begin + done, bytes.data() + done, bytes.size() - done);
    if (got < 0) throw UserError(fmt::format("{}: cannot be read", file.string()));
    if (got == 0) break;  // it became shorter meanwhile
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return size;
}

}  // namespace regroup
