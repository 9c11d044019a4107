#include "regroup/methods/guessing.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace regroup {

at::Tensor sharpened(const at::Tensor& probabilities, double temperature) {
  const at::Tensor powers = probabilities.pow(1 / temperature);
  return powers / powers.sum(1, /*keepdim=*/true);
}

at::Tensor guessed_labels(std::span<const at::Tensor> probabilities_of_views, double temperature) {
  at::Tensor mean = probabilities_of_views.front();
  for (const at::Tensor& view : probabilities_of_views.subspan(1)) mean = mean + view;
  return sharpened(mean / static_cast<double>(probabilities_of_views.size()), temperature);
}

std::vector<std::int32_t> agreeing(std::span<const at::Tensor> probabilities_of_models,
                                   std::span<const std::int32_t> labels) {
  std::vector<std::int32_t> kept(labels.size(), 1);
  for (const at::Tensor& probabilities : probabilities_of_models) {
    const at::Tensor predicted = probabilities.argmax(1).to(at::kCPU).contiguous();
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (predicted.data_ptr<std::int64_t>()[i] != labels[i]) kept[i] = 0;
  }
  return kept;
}

double ramp(double time, double start, double length) {
  return length > 0 ? std::clamp((time - start) / length, 0.0, 1.0) : time >= start ? 1.0 : 0.0;
}

BatchShare share_batch(int batch_size, std::size_t labelled, std::size_t unlabelled) {
  if (labelled == 0) return {0, batch_size};
  if (unlabelled == 0) return {batch_size, 0};
  if (unlabelled > labelled) return {batch_size - batch_size / 2, batch_size / 2};
  const double share = static_cast<double>(unlabelled) / static_cast<double>(labelled + unlabelled);
  const int part = std::clamp(static_cast<int>(std::lround(share * batch_size)), 1, batch_size - 1);
  return {batch_size - part, part};
}

std::vector<float> class_weights(std::span<const std::int32_t> labels, std::span<const std::int32_t> kept,
                                 int classes) {
  std::vector<float> counts(static_cast<std::size_t>(classes));
  float all = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (kept[i] == 0) continue;
    ++counts[static_cast<std::size_t>(labels[i])];
    ++all;
  }
  std::vector<float> weights(counts.size());
  for (std::size_t c = 0; c < counts.size(); ++c)
    if (counts[c] > 0) weights[c] = std::min(3.0F, all / static_cast<float>(classes) / counts[c]);
  return weights;
}

}  // namespace regroup
