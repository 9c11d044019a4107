#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "regroup/nn/network.h"
#include "regroup/train/checkpoint.h"
#include "regroup/train/evaluate.h"
#include "regroup/train/saved_predictors.h"

namespace regroup {

/// A predictor that was trained, ready to predict.
struct TrainedPredictor {
  std::string source;  ///< for messages: the file, or the checkpoint and the predictor's name
  NetworkCard card;
  std::vector<std::unique_ptr<Network>> networks;
  PredictorMean mean = PredictorMean::probabilities;

  Predictor predictor() const;
};

/// From a safetensors file of a run; or from a run's folder: its primary predictor of the `checkpoint` best or last.
TrainedPredictor load_trained_predictor(const std::filesystem::path& file_or_run, const std::string& checkpoint,
                                        at::Device device);

/// How its predictions are made.
EvaluationOptions evaluation_of(const NetworkCard& card, at::Device device, Precision precision);

}  // namespace regroup
