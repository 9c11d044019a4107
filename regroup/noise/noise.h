#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "regroup/noise/features.h"
#include "regroup/noise/spec.h"
#include "regroup/noise/transition.h"

namespace regroup {

struct NoisyLabels {
  std::vector<std::int32_t> labels;

  /// What was asked for. For a matrix: the expected share of wrong labels, given how many samples each class has.
  double nominal_rate = 0;

  /// The share of labels that differ from the clean ones.
  double realised_rate = 0;

  /// Row: clean class, column: label. A class without samples has a row of zeros.
  TransitionMatrix realised;
};

/// Makes labels go wrong:
///
///   make_noisy(parse_noise("pairflip:0.45"), clean, 10, {}, 7, hardware_threads())
///
/// The result is a function of everything but `threads`, and the label of a sample does not depend on the labels of
/// others. Labels must be in 0 .. classes - 1. `features` are used by instance-dependent noise only, which must get
/// them.
NoisyLabels make_noisy(const NoiseSpec& spec, std::span<const std::int32_t> labels, int classes,
                       const Features& features, std::uint64_t seed, int threads);

}  // namespace regroup
