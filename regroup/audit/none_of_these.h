#pragma once

#include <span>
#include <vector>

#include "regroup/labels/beliefs.h"

namespace regroup {

/// The probability of each sample to belong to no class. Such a sample is predicted vaguely, its features are short (a
/// network answers strongly only to what it has learnt), and its label is hardly better explained than by chance; a
/// sample of another class than its label is predicted clearly. One sample in a hundred is taken to be of this kind
/// before anything is known. The order tells more than the value, which is not calibrated: a network that knows its
/// classes badly is vague about many.
///
/// `feature_lengths` has one number per sample, or none where there are no features.
std::vector<float> none_of_these(std::span<const Belief> beliefs, std::span<const float> feature_lengths);

}  // namespace regroup
