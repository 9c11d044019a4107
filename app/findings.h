#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "regroup/audit/audit.h"
#include "regroup/audit/decisions.h"
#include "regroup/audit/review_data.h"
#include "regroup/data/dataset.h"

namespace regroup {

// What `regroup audit` leaves in a folder and `regroup review` takes from there.

/// The findings themselves, before anybody decided (saved_audit.h), and the decisions about them (decision_journal.h).
inline constexpr const char* saved_audit_name = "audit.safetensors";
inline constexpr const char* journal_name = "decisions.csv";

/// All labels of a run's training images, by index; `clean` and `paths` are empty where there are none.
struct RunLabels {
  std::vector<std::int32_t> given, clean;
  std::vector<std::string> paths;
};

/// From the run's labels.csv.
RunLabels read_run_labels(const std::filesystem::path& run, int classes);

/// The lists that follow decisions, which `audit` has: issues.csv, corrected.csv and trusted.csv.
void write_lists(const std::filesystem::path& folder, const Audit& audit, const RunLabels& labels);

/// What the page tells about a run: its settings, its figures and its charts.
ReviewRun review_run(const std::filesystem::path& run, const std::filesystem::path& findings);

/// For each part of an audit, where its samples come from.
std::vector<std::shared_ptr<const SampleSource>> sources_of(const Audit& audit, const Dataset& dataset);

/// What shows people what the vectors of an audit were made of: files of their own, or what the data says.
struct RowPictures {
  std::optional<std::string> text, images;
};

/// `rows` training vectors, with those for validation.
void show_rows(const RowPictures& given, std::size_t rows, Audit& audit);

}  // namespace regroup
