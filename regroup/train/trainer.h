#pragma once

#include <atomic>
#include <filesystem>
#include <vector>

#include "regroup/core/settings.h"
#include "regroup/train/metrics.h"
#include "regroup/train/observer.h"
#include "regroup/train/run_data.h"

namespace regroup {

struct TrainOptions {
  std::filesystem::path output;  ///< the run's folder; empty: nothing is written
  bool resume = false;           ///< continues from output/last; the settings may have more epochs than before
  const std::atomic<bool>* stop = nullptr;  ///< when it becomes true, the run ends after the current step and is saved
};

struct TrainResult {
  bool finished = false;  ///< false: it was stopped, and can be resumed
  std::vector<EpochMetrics> rows;
  RunSummary summary;  ///< of a finished run
};

/// Trains as configured (see run_settings.h) and leaves the run in its folder.
TrainResult train(const Settings& settings, const TrainOptions& options, Observer& observer);

/// The same on data that is handed over, whatever the settings say about data.
TrainResult train(const Settings& settings, RunData data, const TrainOptions& options, Observer& observer);

}  // namespace regroup
