#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "regroup/train/metrics.h"

namespace regroup {

/// The place in a run where the next step is.
struct Place {
  int epoch = 0;         ///< counts from 0
  std::size_t pass = 0;  ///< of the epoch
  std::size_t step = 0;  ///< of the pass; pass 0, step 0: the epoch has not begun
};

/// How far a run is, beside its tensors.
struct RunProgress {
  Place place;               ///< where the next step is
  double seconds = 0;        ///< of the whole run
  double epoch_seconds = 0;  ///< of the epoch that is being trained
  double estimator_seconds = 0;
  double epoch_estimator_seconds = 0;
  double epoch_images = 0;    ///< that the steps of the epoch have seen so far
  double waited_seconds = 0;  ///< for batches, in the epoch that is being trained
  double best_validation = -1;
  std::string fingerprint;  ///< of the data: with another one the run cannot be resumed
  std::string machine;      ///< engine, device, precision and threads: with others the bits may differ
  std::vector<EpochMetrics> rows;
};

/// progress.json of a checkpoint.
std::string progress_text(const RunProgress& progress);

/// Reads it back. The file may have been damaged or made by somebody else: what cannot be true of a run is refused by
/// a UserError. `name` is for the message.
RunProgress parse_progress(std::string_view text, const std::string& name);

}  // namespace regroup
