#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "regroup/labels/prediction_book.h"
#include "regroup/methods/method.h"
#include "regroup/train/observer.h"
#include "regroup/train/run_data.h"
#include "regroup/train/run_settings.h"

namespace regroup {

/// What the network of a run makes of some samples.
struct ScoredSamples {
  std::vector<std::uint32_t> positions;  ///< in the run's training images, or in a test set
  PredictionBook last;                   ///< by the last checkpoint, without augmentation
  std::vector<float> features;           ///< a row per sample; empty where they would take too much memory
  std::size_t dimension = 0;             ///< of a row
};

/// All that a run knows about its labels.
struct RunPredictions {
  RunData data;
  ScoredSamples train, validation;
  std::vector<ScoredSamples> tests;  ///< of data.dataset.tests, in their order
  PredictionBook history;            ///< of the training samples, averaged over the epochs; empty() in runs without it
  std::vector<float> noise_rates;    ///< after each epoch, as the method's context has them; empty likewise
  int epochs_done = 0, epochs = 0;
};

/// Reads a run from its last checkpoint, finished or not, and scores its samples; the run itself is left alone. `given`
/// replaces settings of the run: where the data lies now. Throws UserError where it is no run, or its data has changed.
RunPredictions read_run_predictions(const std::filesystem::path& run, const std::vector<GivenValue>& given,
                                    const std::string& device, Observer& observer);

}  // namespace regroup
