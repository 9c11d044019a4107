#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "regroup/report/charts.h"
#include "regroup/reproduce/audit_outcome.h"
#include "regroup/train/metrics.h"

namespace regroup {

/// What a finished run found, on one of its test sets, read back from its folder.
struct RunOutcome {
  RunSummary summary;
  PredictorSummaries accuracies;                              ///< empty where the run has no such test set
  std::map<std::string, std::vector<std::uint8_t>> right;     ///< by predictor: which images it got right in the end
  std::optional<AuditFigures> audit;                          ///< where the grid shows it
  double against = std::numeric_limits<double>::quiet_NaN();  ///< where the grid shows accuracies against a figure

  const PredictorSummary& primary() const { return accuracies.at(summary.primary); }
};

/// Throws UserError where the folder does not hold a finished run.
RunOutcome read_outcome(const std::filesystem::path& run, const std::string& test);

/// Accuracy of a predictor on a test set by epoch.
Series accuracy_curve(const std::filesystem::path& run, const std::string& name, const std::string& predictor,
                      const std::string& test);

/// The mean of a column of metrics.csv over the second half of the epochs, as far as it has numbers. Not a number where
/// the run has no such column.
double late_mean(const std::filesystem::path& run, const std::string& metric);

/// The losses of right and of wrong labels in the end.
std::vector<Histogram> final_losses(const std::filesystem::path& run);

}  // namespace regroup
