#include "regroup/train/metrics.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "regroup/core/error.h"
#include "regroup/io/csv.h"
#include "regroup/io/text_file.h"

namespace regroup {

double EpochMetrics::value(const std::string& name) const {
  for (const auto& [key, value] : values)
    if (key == name) return value;
  return std::numeric_limits<double>::quiet_NaN();
}

std::string metrics_csv(const std::vector<EpochMetrics>& rows) {
  CsvWriter csv;
  std::vector<std::string> fields{"epoch"};
  if (!rows.empty())
    for (const auto& [name, value] : rows.front().values) fields.push_back(name);
  csv.row(fields);
  for (const EpochMetrics& row : rows) {
    fields = {std::to_string(row.epoch)};
    for (const auto& [name, value] : row.values)
      fields.push_back(std::isnan(value) ? "" : fmt::format("{:.6g}", value));
    csv.row(fields);
  }
  return csv.text();
}

PredictorSummary summarise(const std::vector<EpochMetrics>& rows, const std::string& predictor,
                           const std::string& test_set) {
  PredictorSummary summary;
  double best_validation = -1;
  for (const EpochMetrics& row : rows) {
    const double test = row.value(fmt::format("{}_{}", test_set, predictor)),
                 validation = row.value("val_" + predictor);
    if (std::isnan(test)) continue;
    summary.last = test;
    summary.top5 = row.value(fmt::format("{}_top5_{}", test_set, predictor));
    summary.best_test = std::max(summary.best_test, test);
    // Without a validation split the last epoch is the choice.
    if (std::isnan(validation) || validation > best_validation) {
      summary.best_val = test;
      best_validation = std::isnan(validation) ? best_validation : validation;
    }
  }
  return summary;
}

std::string summary_json(const RunSummary& summary) {
  const auto number = [](double value) {
    return std::isnan(value) ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
  };
  nlohmann::ordered_json json;
  const auto add = [](nlohmann::ordered_json& place, const PredictorSummaries& predictors) {
    for (const auto& [name, predictor] : predictors) {
      place[name] = {{"last", predictor.last}, {"best_val", predictor.best_val}, {"best_test", predictor.best_test}};
      if (!std::isnan(predictor.top5)) place[name]["top5"] = predictor.top5;
    }
  };
  add(json["predictors"], summary.predictors);
  for (const auto& [test, predictors] : summary.more_tests) add(json["more_tests"][test], predictors);
  json["primary"] = summary.primary;
  json["noise_rate"] = number(summary.noise_rate);
  json["memorised"] = number(summary.memorised);
  json["epochs"] = summary.epochs;
  json["seconds"] = summary.seconds;
  json["images_per_second"] = summary.images_per_second;
  json["estimator_seconds"] = summary.estimator_seconds;
  json["peak_memory_mb"] = summary.peak_memory_mb;
  return json.dump(2) + "\n";
}

RunSummary read_summary(const std::filesystem::path& file) {
  using nlohmann::json;
  const auto number = [](const json& value) { return value.is_null() ? std::nan("") : value.get<double>(); };
  try {
    const json read = json::parse(read_text(file));
    const auto predictors = [&](const json& place) {
      PredictorSummaries summaries;
      for (const auto& [name, values] : place.items()) {
        summaries[name] = {number(values.at("last")), number(values.at("best_val")), number(values.at("best_test"))};
        if (values.contains("top5")) summaries[name].top5 = number(values.at("top5"));
      }
      return summaries;
    };
    RunSummary summary;
    summary.predictors = predictors(read.at("predictors"));
    if (read.contains("more_tests"))
      for (const auto& [test, place] : read.at("more_tests").items()) summary.more_tests[test] = predictors(place);
    summary.primary = read.at("primary");
    summary.noise_rate = number(read.at("noise_rate"));
    summary.memorised = number(read.at("memorised"));
    summary.epochs = read.at("epochs");
    summary.seconds = read.at("seconds");
    summary.images_per_second = read.at("images_per_second");
    summary.estimator_seconds = read.at("estimator_seconds");
    summary.peak_memory_mb = read.at("peak_memory_mb");
    if (summary.predictors.contains(summary.primary)) return summary;
  } catch (const json::exception&) {
    // Whatever it is, it was not written by a run.
  }
  throw UserError(fmt::format("{}: is not the summary of a run", file.string()));
}

}  // namespace regroup
