#pragma once

#include <string>
#include <vector>

namespace regroup {

class Network;

/// What the outputs of several networks are averaged as.
enum class PredictorMean { probabilities, logits };

/// One network that predicts, or several that do so together.
struct Predictor {
  std::string name;
  std::vector<Network*> networks;
  PredictorMean mean = PredictorMean::probabilities;
};

}  // namespace regroup
