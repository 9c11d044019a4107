#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "regroup/core/file.h"
#include "regroup/reproduce/runner.h"
#include "regroup/train/progress.h"

namespace regroup {

/// The progress of a run, as a checkpoint has it.
inline std::string progress_json(int epoch, double seconds, double epoch_seconds = 0) {
  RunProgress progress;
  progress.place.epoch = epoch;
  progress.seconds = seconds;
  progress.epoch_seconds = epoch_seconds;
  for (int row = 1; row <= epoch; ++row) progress.rows.push_back({row, {}});
  return progress_text(progress);
}

/// A checkpoint without tensors.
inline void write_progress(const std::filesystem::path& checkpoint, int epoch, double seconds,
                           double epoch_seconds = 0) {
  std::filesystem::create_directories(checkpoint);
  write_file(checkpoint / "progress.json", progress_json(epoch, seconds, epoch_seconds));
}

/// One noise, the rows that are given, runs of ten epochs on digits.
inline Grid small_grid(const std::string& rows = R"({ label = "CE", method = "ce" })", const std::string& more = "") {
  return parse_grid(more + R"(
settings = { data = "mnist", epochs = 10, width = 8, batch-size = 32, eval-every = 10 }
[[block]]
label = "Digits"
columns = [{ id = "sym", label = "Symmetric 0.5", noise = "symmetric:0.5" }]
rows = [)" + rows + "]\n",
                    "small");
}

}  // namespace regroup
