#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace regroup {

// Pieces of semi-supervised training that several methods share.

/// p^(1/T) of each row, normalised: T under 1 makes distributions more certain.
at::Tensor sharpened(const at::Tensor& probabilities, double temperature);

/// What an image without a label is taken for: the mean of what was predicted for its views, sharpened.
at::Tensor guessed_labels(std::span<const at::Tensor> probabilities_of_views, double temperature);

/// Which samples keep their label: those that every model predicts it for. Rows are samples.
std::vector<std::int32_t> agreeing(std::span<const at::Tensor> probabilities_of_models,
                                   std::span<const std::int32_t> labels);

/// 0 before `start`, rising linearly to 1 over `length` epochs; `time` in epochs, with fractions.
double ramp(double time, double start, double length);

/// How a batch is shared between labelled and unlabelled samples: half of it is unlabelled where those are more, a part
/// in proportion otherwise; a set that is not empty gets at least one image.
struct BatchShare {
  int labelled = 0, unlabelled = 0;
};
BatchShare share_batch(int batch_size, std::size_t labelled, std::size_t unlabelled);

/// A weight for each class against unequal counts: mean count / count, at most 3, and 0 where there is none.
std::vector<float> class_weights(std::span<const std::int32_t> labels, std::span<const std::int32_t> kept, int classes);

}  // namespace regroup
