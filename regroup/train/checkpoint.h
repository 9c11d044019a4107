#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "regroup/methods/method.h"
#include "regroup/train/metrics.h"

namespace regroup {

/// How far a run is, beside its tensors.
struct RunProgress {
  int epoch = 0;             ///< the epoch that goes on, counted from 0
  std::size_t step = 0;      ///< the step that is next in it; 0: the epoch has not begun
  double seconds = 0;        ///< of the whole run
  double epoch_seconds = 0;  ///< of the epoch that goes on
  double estimator_seconds = 0;
  double epoch_estimator_seconds = 0;
  double waited_seconds = 0;  ///< for batches, in the epoch that goes on
  double best_validation = -1;
  std::string fingerprint;  ///< of the data: another one means that the run cannot go on with it
  std::string machine;      ///< engine, device, precision and threads: with others the bits may differ
  std::vector<EpochMetrics> rows;
};

/// What a weights file says about itself, so that it can be used without its run.
struct NetworkCard {
  std::string model;
  int base_width = 0;
  int channels = 0, height = 0, width = 0;
  std::vector<std::string> class_names;
  std::vector<float> mean, deviation;
  bool test_flip = false;
};

std::map<std::string, std::string> card_metadata(const NetworkCard& card);
NetworkCard read_card(const std::filesystem::path& weights_file);

/// Writes a checkpoint to `folder`: every network as NAME.safetensors, `state` and progress. It is written aside and
/// then takes the folder's place at once: at any moment the folder holds a whole checkpoint, the old one or the new
/// one.
void save_checkpoint(const std::filesystem::path& folder, Method& method, const State& state,
                     const RunProgress& progress, const NetworkCard& card);

/// The progress of a checkpoint, without its tensors.
RunProgress read_progress(const std::filesystem::path& folder);

/// Fills networks and state, and returns the progress.
RunProgress load_checkpoint(const std::filesystem::path& folder, Method& method, const State& state);

}  // namespace regroup
