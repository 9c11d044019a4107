#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "regroup/data/augment.h"
#include "regroup/data/sample_source.h"

namespace regroup {

/// What a method may learn from. Its samples are numbered by slot, 0 .. size() - 1, without gaps: what a method keeps
/// for each sample is an array over the slots. True labels are not in here.
struct TrainingSet {
  std::shared_ptr<const SampleSource> source;
  std::vector<std::uint32_t> positions;  ///< of each slot: the sample's position in the source
  std::vector<std::int32_t> labels;      ///< of each slot: the observed label
  std::vector<std::uint32_t> trusted;    ///< slots whose labels somebody has verified
  /// Samples that are not trained on, by which a method may choose an epoch: positions in the source and observed
  /// labels, as wrong as the others. Empty where the run has no validation samples.
  std::vector<std::uint32_t> validation;
  std::vector<std::int32_t> validation_labels;
  int classes = 0;
  Normalisation normalisation;
  bool mirrored_is_same = true;
  double limit_share = 1;  ///< the share of the training data that `limit` has left

  std::size_t size() const { return positions.size(); }

  /// By slot, whether somebody has verified the label.
  std::vector<bool> is_trusted() const {
    std::vector<bool> marks(size());
    for (const std::uint32_t slot : trusted) marks[slot] = true;
    return marks;
  }
};

}  // namespace regroup
