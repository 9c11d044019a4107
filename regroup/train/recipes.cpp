#include "regroup/train/run_settings.h"

namespace regroup {

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> table{
      {"paper", "As published: each method with the settings of its paper", {}},
      {"fast",
       "For a CPU: a small network, few epochs, a learning rate that rises and falls, smoothed labels",
       {{"model", std::string("fast")},
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
        {"test-flip", true}}},
  };
  return table;
}

}  // namespace regroup
