#include "regroup/reproduce/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "regroup/core/error.h"

namespace regroup {

std::optional<RunLock> RunLock::take(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) throw UserError(fmt::format("{}: {}", file.string(), std::strerror(errno)));
  RunLock lock(descriptor);
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(descriptor, F_OFD_SETLK, &whole) == 0) return lock;
  if (errno == EAGAIN || errno == EACCES) return std::nullopt;
  throw UserError(
      fmt::format("{}: cannot be locked: {}; use a file system that has locks", file.string(), std::strerror(errno)));
}

RunLock::~RunLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace regroup
