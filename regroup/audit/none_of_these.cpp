#include "regroup/audit/none_of_these.h"

#include <algorithm>
#include <cmath>

namespace regroup {
namespace {

/// Values less their mean, in units of their deviation.
std::vector<double> standardised(std::span<const float> values) {
  double sum = 0, squares = 0;
  for (const float value : values) sum += static_cast<double>(value);
  const double mean = sum / static_cast<double>(std::max<std::size_t>(values.size(), 1));
  for (const float value : values) squares += std::pow(static_cast<double>(value) - mean, 2);
  const double deviation = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(values.size(), 1)));
  std::vector<double> result;
  for (const float value : values)
    result.push_back(deviation > 0 ? (static_cast<double>(value) - mean) / deviation : 0);
  return result;
}

}  // namespace

std::vector<float> none_of_these(std::span<const Belief> beliefs, std::span<const float> feature_lengths) {
  constexpr double prior = 0.01, least = 1e-9, classes_at_least = 2;
  std::vector<float> vagueness;
  double classes = classes_at_least;
  for (const Belief& belief : beliefs) {
    vagueness.push_back(belief.vagueness);
    classes = std::max({classes, belief.likeliest + 1.0, belief.other + 1.0});
  }
  const std::vector<double> vague = standardised(vagueness), length = standardised(feature_lengths);
  std::vector<float> result;
  for (std::size_t i = 0; i < beliefs.size(); ++i) {
    const double evidence = vague[i] - (length.empty() ? 0 : length[i]);
    const double odds = prior / (1 - prior) * std::exp(evidence) / classes /
                        std::max(static_cast<double>(beliefs[i].label_probability), least);
    result.push_back(static_cast<float>(odds / (1 + odds)));
  }
  return result;
}

}  // namespace regroup
