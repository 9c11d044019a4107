#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace regroup {

/// The right to work on a run, held by one process at a time among all that see the file, on this machine or another.
/// It is a lock of the file system: it ends with the process that holds it, however that ends. A child that is given
/// the descriptor holds it too, so that nobody begins anew what an orphan still works on.
class RunLock {
 public:
  /// Nothing where somebody else has it. Throws UserError where the file cannot be made or the file system has no
  /// locks.
  static std::optional<RunLock> take(const std::filesystem::path& file);

  RunLock(RunLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  RunLock& operator=(RunLock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  ~RunLock();

  int descriptor() const { return descriptor_; }

  /// Who holds a lock that could not be taken: `process 123 on HOST`; `somebody else` where the file does not say.
  static std::string owner(const std::filesystem::path& file);

 private:
  explicit RunLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace regroup
