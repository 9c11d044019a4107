#include "regroup/train/evaluate.h"

#include <ATen/ATen.h>

#include <limits>
#include <numeric>

namespace regroup {

at::Tensor probabilities(const Predictor& predictor, const SampleSource& samples,
                         std::span<const std::uint32_t> positions, const EvaluationOptions& options) {
  at::Tensor sum;
  for (const Scores& scores :
       score_plainly(predictor.networks, samples, positions, options.normalisation, options.scoring)) {
    const at::Tensor part = at::softmax(scores.logits, 1);
    sum = sum.defined() ? sum + part : part;
  }
  return sum / static_cast<double>(predictor.networks.size());
}

at::Tensor probabilities(const Predictor& predictor, const SampleSource& samples, const EvaluationOptions& options) {
  std::vector<std::uint32_t> all(samples.size());
  std::iota(all.begin(), all.end(), 0U);
  return probabilities(predictor, samples, all, options);
}

std::vector<std::int32_t> most_likely(const at::Tensor& probabilities) {
  const at::Tensor labels = probabilities.argmax(1).to(at::kInt).contiguous();
  const auto* const begin = labels.data_ptr<std::int32_t>();
  return {begin, begin + labels.numel()};
}

double accuracy(std::span<const std::int32_t> predicted, std::span<const std::int32_t> labels) {
  if (labels.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::size_t right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) right += predicted[i] == labels[i] ? 1 : 0;
  return static_cast<double>(right) / static_cast<double>(labels.size());
}

}  // namespace regroup
