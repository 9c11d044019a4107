#pragma once

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

  /// The figures of an epoch that has ended, up to those of the method. Accuracies are not a number unless
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

  /// What each predictor takes samples for.
  std::vector<std::vector<std::int32_t>> predicted(const SampleSource& samples,
                                                   std::span<const std::uint32_t> positions) const;
  Predictions predictions(const TestSet& test) const;
  FinalLosses final_losses() const;

  const RunData& data_;
  const Context& context_;
  Method& method_;
  EvaluationOptions evaluation_;
  RunMaterial material_;
};

}  // namespace regroup
