#include "regroup/train/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "regroup/core/error.h"

namespace regroup {
namespace {

/// For whoever finds it taken. Nothing depends on it, so that a full disk is no reason to fail.
void sign(int descriptor) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const std::string text = fmt::format("process {} on {}\n", ::getpid(), host);
  if (::ftruncate(descriptor, 0) != 0) return;
  [[maybe_unused]] const auto written = ::pwrite(descriptor, text.data(), text.size(), 0);
}

}  // namespace

std::optional<RunLock> RunLock::take(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) throw UserError(fmt::format("{}: {}", file.string(), std::strerror(errno)));
  RunLock lock(descriptor);
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(descriptor, F_OFD_SETLK, &whole) == 0) {
    sign(descriptor);
    return lock;
  }
  if (errno == EAGAIN || errno == EACCES) return std::nullopt;
  throw UserError(
      fmt::format("{}: cannot be locked: {}; use a file system that has locks", file.string(), std::strerror(errno)));
}

std::string RunLock::owner(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  return std::getline(in, line) && line.starts_with("process ") ? line.substr(0, 300) : "somebody else";
}

RunLock::~RunLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace regroup
