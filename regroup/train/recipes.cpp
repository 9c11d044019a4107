#include "regroup/train/run_settings.h"

namespace regroup {

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> table{
      {"paper",
       "As in the paper: SGD with momentum 0.9, batches of 128, cosine from 0.1, 200 epochs of a ResNet-18",
       {}},
      {"fast",
       "For a CPU: the fast network, batches of 256, a rate that rises and falls, smoothed labels, 16 epochs",
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
        {"test-flip", true}},
       // RML's epochs, and half as many more. The second phase takes over a network that has settled, and judges labels
       // by it: it must not be unsettled.
       {{"rml-semi", "epochs", std::int64_t{24}}, {"rml-semi", "semi-lr", 0.03}}},
  };
  return table;
}

}  // namespace regroup
