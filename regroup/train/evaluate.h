#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "regroup/methods/method.h"

namespace regroup {

/// How images become predictions.
struct EvaluationOptions {
  Normalisation normalisation;
  ScoringOptions scoring = {};
};

/// The probabilities that a predictor gives the classes, on the CPU: the softmax of its network, or their mean.
at::Tensor probabilities(const Predictor& predictor, const SampleSource& samples,
                         std::span<const std::uint32_t> positions, const EvaluationOptions& options);

/// The same of all samples.
at::Tensor probabilities(const Predictor& predictor, const SampleSource& samples, const EvaluationOptions& options);

/// The class with the highest probability, of each image.
std::vector<std::int32_t> most_likely(const at::Tensor& probabilities);

/// The share of images whose label is predicted; not a number if there are no images.
double accuracy(std::span<const std::int32_t> predicted, std::span<const std::int32_t> labels);

}  // namespace regroup
