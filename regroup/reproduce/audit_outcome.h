#pragma once

#include <filesystem>

namespace regroup {

/// How well the wrong labels of a run are found, where the true ones are known; not a number where they are not.
struct AuditFigures {
  double average_precision, worst_precision, recall, calibration_error;
  double noise_rate_error;  ///< the estimated rate less the true one
  double loss_precision;    ///< the average precision of a list by the losses in the end, for comparison
};

/// From the audit in the folder of a run that is done, which is made where there is none yet.
AuditFigures audit_figures(const std::filesystem::path& run);

}  // namespace regroup
