#include "regroup/train/saved_predictors.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "regroup/core/error.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

using nlohmann::json;

constexpr std::size_t max_bytes = 1U << 20, max_predictors = 100, max_networks = 100;

/// Names are parts of file names.
bool is_plain_name(const std::string& name) {
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !name.empty() && name.size() <= 100 && std::all_of(name.begin(), name.end(), is_plain);
}

SavedPredictor predictor_of(const json& content) {
  return {content.at("name"), content.at("networks").get<std::vector<std::string>>(),
          content.at("mean") == "logits" ? PredictorMean::logits : PredictorMean::probabilities};
}

bool makes_sense(const SavedPredictors& predictors) {
  const auto& all = predictors.all;
  return all.size() <= max_predictors &&
         std::all_of(all.begin(), all.end(),
                     [](const SavedPredictor& one) {
                       return is_plain_name(one.name) && !one.networks.empty() && one.networks.size() <= max_networks &&
                              std::all_of(one.networks.begin(), one.networks.end(), is_plain_name);
                     }) &&
         std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.name == predictors.primary; });
}

}  // namespace

const SavedPredictor& SavedPredictors::primary_predictor() const {
  return *std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == primary; });
}

std::string predictors_text(const SavedPredictors& predictors) {
  json all = json::array();
  for (const SavedPredictor& one : predictors.all)
    all.push_back({{"name", one.name},
                   {"networks", one.networks},
                   {"mean", one.mean == PredictorMean::logits ? "logits" : "probabilities"}});
  return json{{"primary", predictors.primary}, {"predictors", all}}.dump(1) + "\n";
}

SavedPredictors parse_predictors(std::string_view text, const std::string& name) {
  SavedPredictors predictors;
  try {
    const json content = json::parse(text);
    predictors.primary = content.at("primary");
    for (const json& one : content.at("predictors")) predictors.all.push_back(predictor_of(one));
  } catch (const json::exception& error) {
    throw UserError(fmt::format("{}: does not say who predicts: {}", name, error.what()));
  }
  if (!makes_sense(predictors))
    throw UserError(fmt::format("{}: names predictors that no run has; the checkpoint is damaged", name));
  return predictors;
}

SavedPredictors read_predictors(const std::filesystem::path& file) {
  return parse_predictors(read_text(file, max_bytes), file.string());
}

}  // namespace regroup
