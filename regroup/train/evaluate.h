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

/// The probabilities that predictors give the classes, on the CPU: the softmax of a network, or the mean of several as
/// the predictor says. A network that several predictors share looks at each sample once.
std::vector<at::Tensor> probabilities(const std::vector<Predictor>& predictors, const SampleSource& samples,
                                      std::span<const std::uint32_t> positions, const EvaluationOptions& options);

/// The same of one predictor and all samples.
at::Tensor probabilities(const Predictor& predictor, const SampleSource& samples, const EvaluationOptions& options);

/// What a predictor makes of samples: probabilities, and the features of its first network.
Scores probabilities_and_features(const Predictor& predictor, const SampleSource& samples,
                                  std::span<const std::uint32_t> positions, const EvaluationOptions& options);

/// The class with the highest probability, of each image.
std::vector<std::int32_t> most_likely(const at::Tensor& probabilities);

/// The share of images whose label is predicted; not a number if there are no images.
double accuracy(std::span<const std::int32_t> predicted, std::span<const std::int32_t> labels);

/// The share of images whose label is among the `count` likeliest classes; of equally likely ones, the first counts
/// first, as in most_likely. Not a number if there are no images.
double top_accuracy(const at::Tensor& probabilities, std::span<const std::int32_t> labels, int count);

}  // namespace regroup
