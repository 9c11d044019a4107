#include "regroup/train/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "regroup/core/error.h"
#include "regroup/train/checkpoint.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

constexpr const char* lock_name = ".lock";

/// What a run has written before its first checkpoint is whole.
constexpr std::array<std::string_view, 4> first_files{lock_name, "labels.csv", "config.toml", "last.new"};

bool is_first_file(const fs::path& file) {
  const std::string name = file.filename().string();
  // A file that was being written when the program was killed: labels.csv.123.part.
  return std::any_of(first_files.begin(), first_files.end(), [&](std::string_view first) {
    return name == first || (name.starts_with(first) && name.ends_with(".part"));
  });
}

RunLock lock_of(const fs::path& path) {
  const fs::path file = path / lock_name;
  auto lock = RunLock::take(file);
  if (!lock)
    throw UserError(
        fmt::format("{}: {} trains this run; wait for it, or stop it first", path.string(), RunLock::owner(file)));
  return std::move(*lock);
}

/// Where there is anything but the beginnings of a run.
void refuse_used(const fs::path& path) {
  for (const auto& entry : fs::directory_iterator(path)) {
    if (is_first_file(entry.path())) continue;
    throw UserError(has_checkpoint(path / "last")
                        ? fmt::format("{} holds a run; continue it by --resume {}, or choose another --output",
                                      path.string(), path.string())
                        : fmt::format("{} is not empty; choose another --output", path.string()));
  }
}

}  // namespace

RunFolder::RunFolder(fs::path path, bool is_new, RunLock lock)
    : path_(std::move(path)), is_new_(is_new), lock_(std::move(lock)) {}

RunFolder RunFolder::begin(const fs::path& path) {
  std::error_code error;
  const bool is_new = fs::create_directories(path, error);
  if (error) throw UserError(fmt::format("{}: the folder cannot be made: {}", path.string(), error.message()));
  refuse_used(path);  // before anything is put into a folder of somebody's own
  RunFolder folder(path, is_new, lock_of(path));
  refuse_used(path);  // by a run that has just ended
  return folder;
}

RunFolder RunFolder::resume(const fs::path& path) {
  std::error_code unreadable;
  if (!fs::exists(path / "config.toml", unreadable))
    throw UserError(
        fmt::format("{}: there is no run here; give the folder that regroup train --output named", path.string()));
  return {path, false, lock_of(path)};
}

RunFolder::~RunFolder() {
  if (lock_.descriptor() < 0 || !is_new_) return;
  std::error_code not_empty;
  const auto files = std::distance(fs::directory_iterator(path_, not_empty), fs::directory_iterator());
  if (files != 1 || not_empty) return;  // more than the lock
  fs::remove(path_ / lock_name, not_empty);
  fs::remove(path_, not_empty);
}

}  // namespace regroup
