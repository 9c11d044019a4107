#include "regroup/train/progress.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "regroup/core/error.h"

namespace regroup {
namespace {

using nlohmann::json;

/// As the setting `epochs` has it, and more steps than an epoch can have.
constexpr double most_epochs = 1e6, most_steps = 1e12;
/// A hundred years.
constexpr double most_seconds = 3.2e9;

json number(double value) { return std::isnan(value) ? json() : json(value); }

double number(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

/// Takes numbers from a JSON object and refuses those that are out of bounds.
class Reader {
 public:
  Reader(const json& content, const std::string& name) : content_(content), name_(name) {}

  double bounded(const char* key, double low, double high) const {
    const auto value = content_.at(key).get<double>();
    if (!(value >= low && value <= high))
      throw UserError(fmt::format("{}: {} is {}, which no run has; the checkpoint is damaged", name_, key, value));
    return value;
  }

  template <class Integer>
  Integer whole(const char* key, double low, double high) const {
    bounded(key, low, high);
    if (!content_.at(key).is_number_integer())
      throw UserError(fmt::format("{}: {} is not a whole number; the checkpoint is damaged", name_, key));
    return content_.at(key).get<Integer>();
  }

  double seconds(const char* key) const { return bounded(key, 0, most_seconds); }

 private:
  const json& content_;
  const std::string& name_;
};

RunProgress progress_of(const json& content, const std::string& name) {
  const Reader reader(content, name);
  RunProgress progress;
  progress.place.epoch = reader.whole<int>("epoch", 0, most_epochs);
  progress.place.pass = reader.whole<std::size_t>("pass", 0, most_steps);
  progress.place.step = reader.whole<std::size_t>("step", 0, most_steps);
  progress.seconds = reader.seconds("seconds");
  progress.epoch_seconds = reader.seconds("epoch_seconds");
  progress.estimator_seconds = reader.seconds("estimator_seconds");
  progress.epoch_estimator_seconds = reader.seconds("epoch_estimator_seconds");
  progress.epoch_images = reader.bounded("epoch_images", 0, most_steps);
  progress.waited_seconds = reader.seconds("waited_seconds");
  progress.best_validation = reader.bounded("best_validation", -1, 1);
  progress.fingerprint = content.at("fingerprint");
  progress.machine = content.at("machine");
  for (const json& row : content.at("rows")) {
    EpochMetrics metrics;
    metrics.epoch = Reader(row, name).whole<int>("epoch", 1, most_epochs);
    for (const json& value : row.at("values")) metrics.add(value.at(0), number(value.at(1)));
    progress.rows.push_back(std::move(metrics));
    if (progress.rows.back().epoch != static_cast<int>(progress.rows.size()))
      throw UserError(
          fmt::format("{}: the row of epoch {} is missing; the checkpoint is damaged", name, progress.rows.size()));
  }
  if (progress.rows.size() != static_cast<std::size_t>(progress.place.epoch))
    throw UserError(fmt::format("{}: {} epochs are done and {} have a row; the checkpoint is damaged", name,
                                progress.place.epoch, progress.rows.size()));
  return progress;
}

}  // namespace

std::string progress_text(const RunProgress& progress) {
  json rows = json::array();
  for (const EpochMetrics& row : progress.rows) {
    json values = json::array();
    for (const auto& [name, value] : row.values) values.push_back({name, number(value)});
    rows.push_back({{"epoch", row.epoch}, {"values", values}});
  }
  return json{{"epoch", progress.place.epoch},
              {"pass", progress.place.pass},
              {"step", progress.place.step},
              {"seconds", progress.seconds},
              {"epoch_seconds", progress.epoch_seconds},
              {"estimator_seconds", progress.estimator_seconds},
              {"epoch_estimator_seconds", progress.epoch_estimator_seconds},
              {"epoch_images", progress.epoch_images},
              {"waited_seconds", progress.waited_seconds},
              {"best_validation", progress.best_validation},
              {"fingerprint", progress.fingerprint},
              {"machine", progress.machine},
              {"rows", rows}}
      .dump(1);
}

RunProgress parse_progress(std::string_view text, const std::string& name) {
  try {
    return progress_of(json::parse(text), name);
  } catch (const json::exception& error) {
    throw UserError(fmt::format("{}: is not a checkpoint's progress: {}", name, error.what()));
  }
}

}  // namespace regroup
