#include "regroup/train/run_settings.h"

namespace regroup {

namespace {

using Values = std::vector<std::pair<std::string_view, SettingValue>>;

/// For a CPU, from scratch.
const Values fast{{"model", std::string("fast")},
                  {"epochs", std::int64_t{16}},
                  {"batch-size", std::int64_t{256}},
                  {"optimizer", std::string("sgd")},
                  {"lr", 0.75},
                  {"min-lr", 0.05},
                  {"schedule", std::string("linear")},
                  {"lr-rise", 0.23},
                  {"momentum", 0.85},
                  {"nesterov", true},
                  {"weight-decay", 1.3e-3},
                  {"label-smoothing", 0.2},
                  {"shift", std::int64_t{2}},
                  {"padding", std::string("reflect")},
                  {"test-flip", true}};

/// On vectors of another network.
const Values features{{"model", std::string("linear")},
                      {"epochs", std::int64_t{30}},
                      {"batch-size", std::int64_t{256}},
                      {"optimizer", std::string("sgd")},
                      {"lr", 0.05},
                      {"min-lr", 1e-4},
                      {"schedule", std::string("cosine")},
                      {"nesterov", true},
                      {"weight-decay", 1e-4},
                      {"ema", 0.99}};

Values with(Values values, const Values& others) {
  for (const auto& other : others) {
    std::erase_if(values, [&](const auto& value) { return value.first == other.first; });
    values.push_back(other);
  }
  return values;
}

}  // namespace

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> table{
      {"paper", "As published: each method with the settings of its paper", {}},
      {"fast", "For a CPU: a small network, few epochs, a learning rate that rises and falls, smoothed labels", fast},
      {"photos", "As fast, for image files of your own: as many epochs and as large images as the budget allows",
       with(fast, {{"budget", std::string("20m")}, {"epochs", std::int64_t{0}}, {"batch-size", std::int64_t{64}}})},
      {"finetune",
       "From pretrained weights (--init-weights), for image files of your own: within the budget, slowly",
       {{"budget", std::string("20m")},
        {"epochs", std::int64_t{0}},
        {"freeze-epochs", std::int64_t{1}},
        {"init-rate", 0.1},
        {"init-statistics", std::string("keep")},
        {"batch-size", std::int64_t{32}},
        {"lr", 0.02},
        {"min-lr", 1e-4},
        {"lr-rise", 0.1},
        {"nesterov", true},
        {"weight-decay", 1e-4},
        {"label-smoothing", 0.1},
        {"crop", std::string("resized")},
        {"crop-area", 0.3},
        {"test-flip", true}}},
      {"features", "For vectors that a model of your own made (--data features:): a linear classifier", features},
  };
  return table;
}

}  // namespace regroup
