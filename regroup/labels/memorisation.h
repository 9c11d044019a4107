#pragma once

#include <vector>

#include "regroup/labels/prediction_rows.h"

namespace regroup {

/// What training on a sample's label did to the sample's own prediction. A network has a bias towards the labels that
/// it was trained on, right or wrong; for samples that it was not trained on it has none. So the margins of given
/// labels (the score of the label less the best other one) are larger among samples that were trained on, most where
/// the network is neither sure of the label nor against it.
struct Memorisation {
  double scale = 1;             ///< of all scores: averaged predictions are softer than single ones
  std::vector<float> from, to;  ///< margins after training, ascending, and what they would be without it
  double error = 0;             ///< the standard error of `to`
  bool known = false;           ///< false: there was nothing to compare with

  /// Makes the scores of a sample that was trained on comparable to those of one that was not.
  void undo(std::span<float> row, std::int32_t label) const;

  /// How much margins have grown by training, on average.
  double mean_growth() const;
};

/// Compares samples that were trained on with others of the same kind that were not: after undo, the margins of the
/// given labels have the same mean and deviation in both.
Memorisation fit_memorisation(const PredictionRows& trained, const PredictionRows& held_out);

}  // namespace regroup
