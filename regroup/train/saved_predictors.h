#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "regroup/methods/predictor.h"

namespace regroup {

/// The file of a checkpoint that says who predicts.
inline constexpr const char* predictors_name = "predictors.json";

/// A predictor by the names of its networks, whose files lie beside: NAME.safetensors.
struct SavedPredictor {
  std::string name;
  std::vector<std::string> networks;
  PredictorMean mean = PredictorMean::probabilities;
};

struct SavedPredictors {
  std::string primary;
  std::vector<SavedPredictor> all;

  const SavedPredictor& primary_predictor() const;
};

std::string predictors_text(const SavedPredictors& predictors);

/// Reads it back. The file may have been damaged or made by somebody else: what no run can have written is refused by a
/// UserError. `name` is for the message.
SavedPredictors parse_predictors(std::string_view text, const std::string& name);
SavedPredictors read_predictors(const std::filesystem::path& file);

}  // namespace regroup
