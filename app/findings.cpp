#include "findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "console.h"
#include "regroup/audit/audit_files.h"
#include "regroup/core/error.h"
#include "regroup/core/file.h"
#include "regroup/data/features.h"
#include "regroup/data/folder.h"
#include "regroup/io/csv.h"
#include "regroup/io/text_file.h"
#include "regroup/train/checkpoint.h"
#include "regroup/train/run_settings.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

std::int32_t whole_number(const CsvReader& reader, const std::string& field, std::int32_t low, std::int32_t high) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size() || value < low || value > high)
    reader.fail(fmt::format("'{}' is not a number from {} to {}", field, low, high));
  return value;
}

}  // namespace

RunLabels read_run_labels(const fs::path& run, int classes) {
  const fs::path file = run / "labels.csv";
  const std::string text = read_text(file);
  CsvReader reader(text, file.string());
  if (!reader.next()) reader.fail("is empty; it is not what a run writes");
  constexpr std::array<std::string_view, 4> names{"index", "label", "clean", "path"};
  const auto columns = find_columns(reader, names, 2, [](const std::string&) {});
  const std::size_t width = reader.fields().size();
  RunLabels labels;
  while (reader.next()) {
    reader.expect(width);
    const auto at = static_cast<std::int32_t>(labels.given.size());
    if (whole_number(reader, reader.fields()[*columns[0]], 0, at) != at)
      reader.fail("lists images in another order than a run does");
    labels.given.push_back(whole_number(reader, reader.fields()[*columns[1]], 0, classes - 1));
    if (columns[2]) labels.clean.push_back(whole_number(reader, reader.fields()[*columns[2]], -1, classes - 1));
    if (columns[3]) labels.paths.push_back(reader.fields()[*columns[3]]);
  }
  return labels;
}

void write_lists(const fs::path& folder, const Audit& audit, const RunLabels& labels) {
  write_file(folder / "issues.csv", issues_csv(audit));
  write_file(folder / "corrected.csv", corrected_csv(audit, labels.given, labels.clean, labels.paths));
  write_file(folder / "trusted.csv", trusted_csv(audit));
}

ReviewRun review_run(const fs::path& run, const fs::path& findings) {
  ReviewRun about;
  const fs::path whole = fs::absolute(run).lexically_normal();
  about.title = (whole.has_filename() ? whole : whole.parent_path()).filename().string();
  about.folder = shell_word(run.string());
  if (findings.lexically_normal() != (run / "audit").lexically_normal()) about.findings = shell_word(findings.string());
  const Settings settings = resolve_settings({read_config((run / "config.toml").string())});
  const auto add = [&](const char* name, const std::string& value) { about.facts.emplace_back(name, value); };
  add(settings.text("data").starts_with("features:") ? "Vectors" : "Images", settings.text("data"));
  add("Method", settings.text("method"));
  add("Network", settings.text("model"));
  add("Recipe", settings.text("recipe"));
  add("Epochs", std::to_string(settings.integer("epochs")));
  if (settings.text("noise") != "none") add("Labels made wrong", settings.text("noise"));
  add("Seed", std::to_string(settings.integer("seed")));
  if (fs::exists(run / "summary.json")) {
    const RunSummary summary = read_summary(run / "summary.json");
    const auto primary = summary.predictors.find(summary.primary);
    if (primary != summary.predictors.end() && !std::isnan(primary->second.last))
      add("Test accuracy after the last epoch", fmt::format("{:.1f} %", 100 * primary->second.last));
    add("Seconds of training", fmt::format("{:.0f}", summary.seconds));
  }
  std::vector<fs::path> charts;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(run / "plots", none))
    if (entry.path().extension() == ".svg") charts.push_back(entry.path());
  std::ranges::sort(charts);
  for (const fs::path& chart : charts) about.charts.push_back(read_text(chart));
  return about;
}

std::vector<std::shared_ptr<const SampleSource>> sources_of(const Audit& audit, const Dataset& dataset) {
  std::vector<std::shared_ptr<const SampleSource>> sources;
  for (const std::string& part : audit.parts) {
    const auto test = std::ranges::find(dataset.tests, part, &TestSet::name);
    sources.push_back(test != dataset.tests.end() ? test->set.source : dataset.train.source);
  }
  return sources;
}

void show_rows(const RowPictures& given, std::size_t rows, Audit& audit) {
  const auto learnt = [&](const AuditedSample& sample) {
    return audit.parts[sample.part] == "train" || audit.parts[sample.part] == "val";
  };
  if (given.text) {
    const auto texts = parse_row_texts(read_text(*given.text), *given.text, rows);
    for (AuditedSample& sample : audit.samples)
      if (learnt(sample) && sample.index < rows) sample.text = texts[sample.index];
  }
  if (given.images) {
    audit.root = *given.images;
    // Names that the data has are better than the order of the files.
    if (std::ranges::none_of(audit.samples,
                             [&](const auto& sample) { return learnt(sample) && !sample.path.empty(); })) {
      const std::vector<std::string> files = list_images(*given.images);
      if (files.size() != rows)
        throw UserError(
            fmt::format("{}: {} images for {} vectors, and their labels have no column path; give one image "
                        "per row, in the order of their names",
                        *given.images, files.size(), rows));
      for (AuditedSample& sample : audit.samples)
        if (learnt(sample) && sample.index < rows)
          sample.path = fs::path(files[sample.index]).lexically_relative(*given.images).generic_string();
    }
  }
  const auto some = std::ranges::find_if(audit.samples, [](const auto& sample) { return !sample.path.empty(); });
  std::error_code unreadable_is_missing;
  audit.has_pictures =
      !given.text && some != audit.samples.end() && fs::exists(audit.root / some->path, unreadable_is_missing);
  if (given.images && !audit.has_pictures && !given.text)
    throw UserError(
        fmt::format("{}: is not there; say by --images where the image files are", (audit.root / some->path).string()));
}

}  // namespace regroup
