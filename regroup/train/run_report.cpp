#include "regroup/train/run_report.h"

#include <fmt/format.h>

#include <cmath>

#include "regroup/core/file.h"
#include "regroup/io/csv.h"
#include "regroup/report/charts.h"

namespace regroup {
namespace {

Series series_of(const std::vector<EpochMetrics>& rows, const std::string& name, const std::string& metric) {
  Series series{name, {}, {}};
  for (const EpochMetrics& row : rows) {
    if (std::isnan(row.value(metric))) continue;
    series.x.push_back(row.epoch);
    series.y.push_back(row.value(metric));
  }
  return series;
}

std::string accuracy_chart(const std::vector<EpochMetrics>& rows, const RunSummary& summary) {
  std::vector<Series> series;
  for (const auto& [name, values] : summary.predictors) {
    series.push_back(series_of(rows, "test, " + name, "test_" + name));
    for (const auto& [test, predictors] : summary.more_tests)
      series.push_back(series_of(rows, fmt::format("{}, {}", test, name), fmt::format("{}_{}", test, name)));
    series.push_back(series_of(rows, "noisy validation, " + name, "val_" + name));
  }
  std::erase_if(series, [](const Series& s) { return s.x.empty(); });
  return line_chart({"Accuracy", "epoch", "accuracy"}, series, Unit::percent);
}

std::string samples_chart(const std::vector<EpochMetrics>& rows) {
  std::vector<Series> series{series_of(rows, "weight of right labels", "weight_clean"),
                             series_of(rows, "weight of wrong labels", "weight_noisy"),
                             series_of(rows, "wrong labels predicted", "memorised")};
  std::erase_if(series, [](const Series& s) { return s.x.empty(); });
  if (series.empty()) series.push_back(series_of(rows, "weight", "weight"));
  return line_chart({"What the labels count", "epoch", "mean weight, share"}, series, Unit::percent);
}

std::string losses_chart(const RunData& data, const FinalLosses& final) {
  Histogram right{"right labels", {}}, wrong{"wrong labels", {}}, unknown{"labels", {}};
  for (std::size_t i = 0; i < final.losses.size(); ++i) {
    const std::uint32_t position = data.split.train[final.slots[i]];
    Histogram& which = data.is_wrong(position) ? wrong : data.is_right(position) ? right : unknown;
    which.values.push_back(static_cast<double>(final.losses[i]));
  }
  std::vector<Histogram> histograms{right, wrong, unknown};
  std::erase_if(histograms, [](const Histogram& h) { return h.values.empty(); });
  return histogram_chart({"Losses of the training labels after the last epoch", "cross-entropy", "labels"}, histograms);
}

std::string confusion(const RunData& data, const TestSet& test, const std::vector<std::int32_t>& predicted) {
  const auto classes = static_cast<std::size_t>(data.dataset.classes());
  std::vector<double> counts(classes * classes);
  for (std::size_t i = 0; i < predicted.size(); ++i)
    ++counts[static_cast<std::size_t>(test.set.labels[i]) * classes + static_cast<std::size_t>(predicted[i])];
  return confusion_chart({test.name == "test" ? "Test images" : "Images of " + test.name, "predicted", "true"},
                         data.dataset.class_names, counts);
}

std::string train_outcome(const RunData& data, const FinalLosses& final) {
  const auto& paths = data.dataset.train.paths;
  CsvWriter csv;
  std::vector<std::string> fields{"index", "label", "clean", "loss", "predicted"};
  if (!paths.empty()) fields.emplace_back("path");
  csv.row(fields);
  for (std::size_t i = 0; i < final.losses.size(); ++i) {
    const std::uint32_t position = data.split.train[final.slots[i]];
    const bool known = data.is_right(position) || data.is_wrong(position);
    fields = {std::to_string(position), std::to_string(data.observed[position]),
              known ? std::to_string(data.clean[position]) : "", fmt::format("{}", final.losses[i]),
              std::to_string(final.predicted[i])};
    if (!paths.empty()) fields.push_back(paths[position]);
    csv.row(fields);
  }
  return csv.text();
}

std::string test_outcome(const TestSet& test, const Predictions& predictions) {
  CsvWriter csv;
  std::vector<std::string> fields{"index", "label"};
  for (const auto& [name, predicted] : predictions) fields.push_back(name);
  csv.row(fields);
  for (std::size_t i = 0; i < test.set.labels.size(); ++i) {
    fields = {std::to_string(i), std::to_string(test.set.labels[i])};
    for (const auto& [name, predicted] : predictions) fields.push_back(std::to_string(predicted[i]));
    csv.row(fields);
  }
  return csv.text();
}

}  // namespace

double memorised_share(const RunData& data, const FinalLosses& final) {
  double wrong = 0, memorised = 0;
  for (std::size_t i = 0; i < final.predicted.size(); ++i) {
    const std::uint32_t position = data.split.train[final.slots[i]];
    if (!data.is_wrong(position)) continue;
    ++wrong;
    memorised += final.predicted[i] == data.observed[position] ? 1 : 0;
  }
  return wrong > 0 ? memorised / wrong : std::nan("");
}

void write_report(const std::filesystem::path& folder, const RunData& data, const RunMaterial& material,
                  const std::vector<EpochMetrics>& rows, const RunSummary& summary) {
  const auto plots = folder / "plots";
  std::filesystem::create_directories(plots);
  write_file(plots / "accuracy.svg", accuracy_chart(rows, summary));
  const Series loss = series_of(rows, "training loss", "train_loss");
  write_file(plots / "loss.svg", line_chart({"Training loss", "epoch", "cross-entropy"}, std::span(&loss, 1)));
  write_file(plots / "samples.svg", samples_chart(rows));
  if (!material.final_losses.losses.empty())
    write_file(plots / "losses.svg", losses_chart(data, material.final_losses));
  std::filesystem::create_directories(folder / "outcome");
  write_file(folder / "outcome" / "train.csv", train_outcome(data, material.final_losses));
  for (const TestSet& test : data.dataset.tests) {
    const auto found = material.test_predictions.find(test.name);
    if (found == material.test_predictions.end() || found->second.empty()) continue;
    const std::string suffix = test.name.substr(std::string("test").size());
    write_file(plots / fmt::format("confusion{}.svg", suffix),
               confusion(data, test, found->second.at(summary.primary)));
    write_file(folder / "outcome" / (test.name + ".csv"), test_outcome(test, found->second));
  }
  write_file(folder / "summary.json", summary_json(summary));
}

std::string event_tag(const std::string& metric, const std::string& primary) {
  const std::string part = metric.substr(0, metric.find('_'));
  if (part == "val" || part == "test" || part.starts_with("test-")) {
    std::string predictor = metric.substr(part.size() + 1);
    constexpr std::string_view five = "top5_";
    const bool is_top5 = predictor.starts_with(five);
    if (is_top5) predictor.erase(0, five.size());
    const std::string figure = part + (is_top5 ? "/top5" : "/top1");
    return predictor == primary ? figure : fmt::format("{}_{}", figure, predictor);
  }
  return metric == "train_loss" ? "train/loss" : "train/" + metric;
}

}  // namespace regroup
