#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "regroup/audit/audit.h"

namespace regroup {

/// `issues.csv`: a line for each label that was judged, the worst first. The columns that cleanlab's Datalab has too
/// are called as there.
std::string issues_csv(const Audit& audit);

/// `summary.json`: the noise rate with its interval, the matrix, the health of each class, and how good the list is
/// where true labels are known.
std::string summary_json(const Audit& audit);

/// Tasks with predictions, as Label Studio imports them; only images that are files, the worst first. Paths are below
/// `folder`.
std::string label_studio_json(const Audit& audit, const std::filesystem::path& folder);

/// `metadata.csv` of a Hugging Face image folder: file_name and the columns of the issues.
std::string metadata_csv(const Audit& audit);

/// The labels of all training images with the corrections put in, as --labels reads them. `given` has a label per
/// image, `clean` and `paths` one each or none.
std::string corrected_csv(const Audit& audit, std::vector<std::int32_t> given, std::span<const std::int32_t> clean,
                          std::span<const std::string> paths);

/// The training images whose labels are clearly right, as --trusted reads them.
std::string trusted_csv(const Audit& audit);

/// `neighbours.csv`: for each suspect, the worst first, the samples that it can be compared with (evidence.h).
std::string neighbours_csv(const Audit& audit);

/// What was found, in a few lines for a terminal.
std::string audit_text(const Audit& audit);

}  // namespace regroup
