// Trains a classifier with Regroup Median Loss on Fashion-MNIST, half of whose labels are made wrong.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "regroup/train/run_settings.h"
#include "regroup/train/trainer.h"

int main(int argc, char** argv) try {
  const regroup::Settings settings = regroup::run_settings({
      {"data", "fashion-mnist"},
      {"noise", "symmetric:0.5"},
      {"method", "rml"},
      {"width", "8"},
      {"limit", argc > 1 ? argv[1] : "10000"},
      {"epochs", argc > 2 ? argv[2] : "10"},
  });
  regroup::Observer nobody;
  const regroup::TrainResult result = regroup::train(settings, {}, nobody);
  fmt::print("test accuracy {:.1f} %\n", 100 * result.summary.predictors.at("ema").last);
} catch (const std::exception& error) {
  fmt::print(stderr, "train_classifier: {}\n", error.what());
  return 1;
}
