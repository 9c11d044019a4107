#pragma once

#include "regroup/audit/audit.h"
#include "regroup/train/run_predictions.h"

namespace regroup {

/// Which labels are listed; all are judged, since each says something about the others.
enum class AuditPart { all, train, validation, test };

/// What is believed about the labels of a run, without a look at its pictures.
Audit judge_run(const RunPredictions& run, AuditPart part, int threads);

/// The same, with the pictures that are there more than once.
Audit audit_run(const RunPredictions& run, AuditPart part, int threads);

/// What is believed about labels by the predictions of somebody else, a row of probabilities per label.
Audit audit_probabilities(const std::vector<std::string>& class_names, std::span<const std::int32_t> labels,
                          std::span<const float> probabilities, int threads);

}  // namespace regroup
