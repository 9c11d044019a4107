#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "regroup/train/metrics.h"
#include "regroup/train/run_data.h"

namespace regroup {

/// What the trained model says about training samples.
struct FinalLosses {
  std::vector<std::uint32_t> slots;
  std::vector<float> losses;
  std::vector<std::int32_t> predicted;
};

using Predictions = std::map<std::string, std::vector<std::int32_t>>;  ///< by predictor

/// What the report of a run is made from, beside its metrics.
struct RunMaterial {
  FinalLosses final_losses;
  std::map<std::string, Predictions> test_predictions;  ///< by test set
};

/// The share of wrong labels that are predicted; not a number where no label is known to be wrong.
double memorised_share(const RunData& data, const FinalLosses& final);

/// summary.json, outcome/ (the final prediction for the training labels and every image of every test set) and plots/
/// of a finished run.
void write_report(const std::filesystem::path& folder, const RunData& data, const RunMaterial& material,
                  const std::vector<EpochMetrics>& rows, const RunSummary& summary);

/// The TensorBoard tag of a metric: `val/top1` is the primary predictor's accuracy, `val/top1_model` another one's.
std::string event_tag(const std::string& metric, const std::string& primary);

}  // namespace regroup
