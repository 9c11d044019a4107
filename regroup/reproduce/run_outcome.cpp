#include "regroup/reproduce/run_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "regroup/core/error.h"
#include "regroup/io/csv.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

/// Not a number where the field is empty.
double number(const std::string& field) {
  double value = std::nan("");
  std::from_chars(field.data(), field.data() + field.size(), value);
  return value;
}

/// The place of a column by its name in the header line that the reader is at.
std::size_t column_named(const CsvReader& header, std::string_view name) {
  const auto found = std::find(header.fields().begin(), header.fields().end(), name);
  if (found == header.fields().end()) header.fail(fmt::format("there is no column {}", name));
  return static_cast<std::size_t>(found - header.fields().begin());
}

}  // namespace

RunOutcome read_outcome(const fs::path& run, const std::string& test) {
  RunOutcome outcome;
  outcome.summary = read_summary(run / "summary.json");
  const RunSummary& summary = outcome.summary;
  if (test == "test") outcome.accuracies = summary.predictors;
  if (const auto found = summary.more_tests.find(test); found != summary.more_tests.end())
    outcome.accuracies = found->second;
  if (!outcome.accuracies.contains(summary.primary)) {
    outcome.accuracies.clear();
    return outcome;
  }
  const fs::path file = run / "outcome" / (test + ".csv");
  if (!fs::exists(file)) return outcome;
  const std::string text = read_text(file);
  CsvReader csv(text, file.string());
  if (!csv.next()) csv.fail("is empty");
  const std::vector<std::string> names = csv.fields();
  const std::size_t label = column_named(csv, "label");
  while (csv.next()) {
    csv.expect(names.size());
    for (std::size_t i = label + 1; i < names.size(); ++i)
      outcome.right[names[i]].push_back(csv.fields()[i] == csv.fields()[label] ? 1 : 0);
  }
  return outcome;
}

Series accuracy_curve(const fs::path& run, const std::string& name, const std::string& predictor,
                      const std::string& test) {
  const fs::path file = run / "metrics.csv";
  const std::string text = read_text(file);
  CsvReader csv(text, file.string());
  Series series{name, {}, {}};
  if (!csv.next()) return series;
  const std::size_t epoch = column_named(csv, "epoch"),
                    accuracy = column_named(csv, fmt::format("{}_{}", test, predictor));
  const std::size_t columns = csv.fields().size();
  while (csv.next()) {
    csv.expect(columns);
    if (csv.fields()[accuracy].empty()) continue;
    series.x.push_back(number(csv.fields()[epoch]));
    series.y.push_back(number(csv.fields()[accuracy]));
  }
  return series;
}

double late_mean(const fs::path& run, const std::string& metric) {
  const fs::path file = run / "metrics.csv";
  const std::string text = read_text(file);
  CsvReader csv(text, file.string());
  if (!csv.next()) return std::nan("");
  const std::vector<std::string> names = csv.fields();
  const auto column = static_cast<std::size_t>(std::ranges::find(names, metric) - names.begin());
  if (column == names.size()) return std::nan("");
  std::vector<double> values;
  while (csv.next()) {
    csv.expect(names.size());
    values.push_back(number(csv.fields()[column]));
  }
  double sum = 0, count = 0;
  for (std::size_t i = values.size() / 2; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    sum += values[i];
    ++count;
  }
  return sum / count;
}

std::vector<Histogram> final_losses(const fs::path& run) {
  const fs::path file = run / "outcome" / "train.csv";
  const std::string text = read_text(file);
  CsvReader csv(text, file.string());
  if (!csv.next()) csv.fail("is empty");
  const std::size_t label = column_named(csv, "label"), clean = column_named(csv, "clean");
  const std::size_t loss = column_named(csv, "loss"), columns = csv.fields().size();
  Histogram right{"right labels", {}}, wrong{"wrong labels", {}}, unknown{"labels", {}};
  while (csv.next()) {
    csv.expect(columns);
    const auto& fields = csv.fields();
    Histogram& which = fields[clean].empty() ? unknown : fields[clean] == fields[label] ? right : wrong;
    which.values.push_back(number(fields[loss]));
  }
  std::vector<Histogram> histograms{right, wrong, unknown};
  std::erase_if(histograms, [](const Histogram& h) { return h.values.empty(); });
  return histograms;
}

}  // namespace regroup
