#include "regroup/train/evaluate.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace regroup {
namespace {

/// The predictor's mean over its networks; `scores` are those of `networks`.
at::Tensor mean_of(const Predictor& predictor, const std::vector<Network*>& networks,
                   const std::vector<Scores>& scores) {
  const bool by_logits = predictor.mean == PredictorMean::logits;
  at::Tensor sum;
  for (Network* network : predictor.networks) {
    const at::Tensor& logits =
        scores[static_cast<std::size_t>(std::ranges::find(networks, network) - networks.begin())].logits;
    const at::Tensor part = by_logits ? logits : at::softmax(logits, 1);
    sum = sum.defined() ? sum + part : part;
  }
  const at::Tensor mean = sum / static_cast<double>(predictor.networks.size());
  return by_logits ? at::softmax(mean, 1) : mean;
}

}  // namespace

std::vector<at::Tensor> probabilities(const std::vector<Predictor>& predictors, const SampleSource& samples,
                                      std::span<const std::uint32_t> positions, const EvaluationOptions& options) {
  std::vector<Network*> networks;
  for (const Predictor& predictor : predictors)
    for (Network* network : predictor.networks)
      if (std::ranges::find(networks, network) == networks.end()) networks.push_back(network);
  const auto scores = score_plainly(networks, samples, positions, options.normalisation, options.scoring);
  std::vector<at::Tensor> result;
  for (const Predictor& predictor : predictors) result.push_back(mean_of(predictor, networks, scores));
  return result;
}

at::Tensor probabilities(const Predictor& predictor, const SampleSource& samples, const EvaluationOptions& options) {
  std::vector<std::uint32_t> all(samples.size());
  std::iota(all.begin(), all.end(), 0U);
  return probabilities({predictor}, samples, all, options).front();
}

Scores probabilities_and_features(const Predictor& predictor, const SampleSource& samples,
                                  std::span<const std::uint32_t> positions, const EvaluationOptions& options) {
  const auto scores = score_plainly(predictor.networks, samples, positions, options.normalisation, options.scoring,
                                    Wanted::features_too);
  return {scores.front().features, mean_of(predictor, predictor.networks, scores)};
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

double top_accuracy(const at::Tensor& probabilities, std::span<const std::int32_t> labels, int count) {
  if (labels.empty()) return std::numeric_limits<double>::quiet_NaN();
  const at::Tensor label =
      at::tensor(at::ArrayRef<std::int32_t>(labels.data(), labels.size()), at::kInt).to(at::kLong).unsqueeze(1);
  const at::Tensor own = probabilities.gather(1, label);
  const at::Tensor is_before = at::arange(probabilities.size(1)).unsqueeze(0) < label;
  const at::Tensor ahead = (probabilities > own).logical_or((probabilities == own).logical_and(is_before)).sum(1);
  return static_cast<double>((ahead < count).sum().item<std::int64_t>()) / static_cast<double>(labels.size());
}

}  // namespace regroup
