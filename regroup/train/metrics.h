#pragma once

#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace regroup {

/// The figures of one epoch. What was not measured is not a number.
struct EpochMetrics {
  int epoch = 0;  ///< counts from 1

  /// Names and values, in the order of the columns of metrics.csv.
  std::vector<std::pair<std::string, double>> values;

  void add(const std::string& name, double value) { values.emplace_back(name, value); }
  double value(const std::string& name) const;  ///< not a number where there is none of that name
};

/// The text of metrics.csv: a header and a line per epoch. What was not measured is an empty field.
std::string metrics_csv(const std::vector<EpochMetrics>& rows);

/// Test accuracies (0 to 1) of one predictor over a run. Papers and users mean different ones by "the accuracy".
struct PredictorSummary {
  double last = 0;
  double best_val = 0;   ///< at the epoch with the best accuracy on the noisy validation split
  double best_test = 0;  ///< at its own best epoch: nobody can know that one without the test labels
  /// In the last epoch: the share of images whose label is among the five likeliest classes; not a number where that
  /// was not asked for.
  double top5 = std::numeric_limits<double>::quiet_NaN();
};

using PredictorSummaries = std::map<std::string, PredictorSummary>;  ///< by predictor

struct RunSummary {
  PredictorSummaries predictors;  ///< on the test set that is called `test`
  std::string primary;
  double noise_rate = 0;  ///< realised, among the training samples; not a number where true labels are unknown
  double memorised = 0;   ///< the share of wrong labels that the model predicts in the end; likewise
  int epochs = 0;
  double seconds = 0;
  double images_per_second = 0;
  double estimator_seconds = 0;
  double peak_memory_mb = 0;
  std::map<std::string, PredictorSummaries> more_tests = {};  ///< on the other test sets, by their names
};

/// By the columns val_PREDICTOR, TEST_PREDICTOR and TEST_top5_PREDICTOR.
PredictorSummary summarise(const std::vector<EpochMetrics>& rows, const std::string& predictor,
                           const std::string& test = "test");
std::string summary_json(const RunSummary& summary);
RunSummary read_summary(const std::filesystem::path& file);

}  // namespace regroup
