#include "regroup/reproduce/audit_outcome.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "regroup/audit/audit_files.h"
#include "regroup/core/error.h"
#include "regroup/core/file.h"
#include "regroup/core/parallel.h"
#include "regroup/io/text_file.h"
#include "regroup/reproduce/run_outcome.h"
#include "regroup/train/audit_run.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

/// Where the figures are kept: apart from what `regroup audit` leaves, which has much more.
fs::path file_of(const fs::path& run) { return run / "audit-figures.json"; }

/// The labels are judged; neighbours and duplicates, which take much longer, are no part of any figure.
void make_audit(const fs::path& run) {
  Observer silent;
  const Audit audit = judge_run(read_run_predictions(run, {}, "auto", silent), AuditPart::all, hardware_threads());
  write_file(file_of(run), summary_json(audit));
}

double loss_precision(const fs::path& run) {
  std::vector<float> scores;
  std::vector<std::uint8_t> wrong;
  for (const Histogram& part : final_losses(run)) {
    if (part.name == "labels") continue;
    for (const double loss : part.values) {
      scores.push_back(static_cast<float>(-loss));
      wrong.push_back(part.name == "wrong labels" ? 1 : 0);
    }
  }
  return average_precision(scores, wrong);
}

}  // namespace

AuditFigures audit_figures(const fs::path& run) {
  const fs::path file = file_of(run);
  if (!fs::exists(file)) make_audit(run);
  const auto json = nlohmann::json::parse(read_text(file), nullptr, false);
  if (json.is_discarded() || !json.is_object() || !json.contains("noise_rate"))
    throw UserError(file.string() + ": has no figures of an audit; remove it");
  const nlohmann::json truth = json.value("truth", nlohmann::json::object());
  const auto figure = [&](const char* name) { return truth.value(name, std::nan("")); };
  return {figure("average_precision"),
          figure("precision_worst_1_percent"),
          figure("recall_at_noise_rate"),
          figure("calibration_error"),
          json["noise_rate"].value("value", std::nan("")) - figure("noise_rate"),
          loss_precision(run)};
}

}  // namespace regroup
