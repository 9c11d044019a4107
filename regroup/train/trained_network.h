#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "regroup/nn/network.h"
#include "regroup/train/checkpoint.h"
#include "regroup/train/evaluate.h"

namespace regroup {

/// A network that was trained, ready to predict.
struct TrainedNetwork {
  std::filesystem::path file;
  NetworkCard card;
  std::unique_ptr<Network> network;

  Predictor predictor() const { return {file.stem().string(), {network.get()}}; }
};

/// From a safetensors file of a run; or from a run's folder: its primary network of the `checkpoint` best or last.
TrainedNetwork load_trained_network(const std::filesystem::path& file_or_run, const std::string& checkpoint,
                                    at::Device device);

/// How its predictions are made.
EvaluationOptions evaluation_of(const NetworkCard& card, at::Device device, Precision precision);

}  // namespace regroup
