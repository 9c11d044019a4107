#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "regroup/methods/method.h"
#include "regroup/train/evaluate.h"
#include "regroup/train/metrics.h"
#include "regroup/train/run_data.h"
#include "regroup/train/run_report.h"

namespace regroup {

/// Measures a run: how accurate its predictors are, and how well its method tells right labels from wrong ones where
/// those are known. Nothing of it reaches the method.
class Measurement {
 public:
  /// What it is handed must outlive it.
  Measurement(const RunData& data, const Context& context, Method& method, EvaluationOptions evaluation);

  /// The figures of an epoch that has ended, up to those of the method; `row` has its number. Figures of samples are of
  /// those that the epoch had. Accuracies are not a number unless
  /// `accuracies`; what the last epoch finds is kept for the report.
  void measure(bool accuracies, bool last, EpochMetrics& row);

  /// The summary of a finished run by its metrics; times and memory are left to the trainer.
  RunSummary summary(const std::vector<EpochMetrics>& rows, const std::string& primary);

  const RunMaterial& material() const { return material_; }

 private:
  void measure_predictors(bool accuracies, bool last, EpochMetrics& row);
  void measure_samples(std::span<const std::uint32_t> slots, EpochMetrics& row) const;
  void measure_split(EpochMetrics& row) const;
  double mean_loss(std::span<const std::uint32_t> slots) const;

  /// What the predictors, by their names, make of a test set.
  struct Tested {
    Predictions predicted;
    std::map<std::string, double> top5;  ///< empty where that is not asked for
  };
  Tested tested(const TestSet& test) const;
  FinalLosses final_losses() const;

  const RunData& data_;
  bool top5_;
  const Context& context_;
  Method& method_;
  EvaluationOptions evaluation_;
  RunMaterial material_;
};

}  // namespace regroup
