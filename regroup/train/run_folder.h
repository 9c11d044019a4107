#pragma once

#include <filesystem>

#include "regroup/train/run_lock.h"

namespace regroup {

/// The folder of a run, owned by the process that trains it, and by one at a time.
class RunFolder {
 public:
  /// For a new run. A folder that holds anything but the beginnings of a run that never saved a checkpoint is a
  /// UserError; nothing is overwritten.
  static RunFolder begin(const std::filesystem::path& path);

  /// For a run that was stopped or killed. A folder without a run is a UserError.
  static RunFolder resume(const std::filesystem::path& path);

  RunFolder(RunFolder&&) = default;
  RunFolder& operator=(RunFolder&&) = delete;

  /// Removes a folder that begin() made again where no run has begun in it, because of a mistake in the data for
  /// instance.
  ~RunFolder();

 private:
  RunFolder(std::filesystem::path path, bool is_new, RunLock lock);

  std::filesystem::path path_;
  bool is_new_;
  RunLock lock_;
};

}  // namespace regroup
