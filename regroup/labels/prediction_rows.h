#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace regroup {

/// Log-probabilities of some samples, a row each, and their given labels.
struct PredictionRows {
  int classes = 0;
  std::vector<float> scores;  ///< size() rows of `classes` numbers
  std::vector<std::int32_t> labels;

  std::size_t size() const { return labels.size(); }
  std::span<const float> row(std::size_t i) const {
    return std::span(scores).subspan(i * static_cast<std::size_t>(classes), static_cast<std::size_t>(classes));
  }
  std::span<float> row(std::size_t i) {
    return std::span(scores).subspan(i * static_cast<std::size_t>(classes), static_cast<std::size_t>(classes));
  }
};

/// How far the score of the given label is above the best other one.
inline float margin_of(std::span<const float> row, std::int32_t label) {
  float best = -3e38F;
  for (std::size_t y = 0; y < row.size(); ++y)
    if (y != static_cast<std::size_t>(label) && row[y] > best) best = row[y];
  return row[static_cast<std::size_t>(label)] - best;
}

}  // namespace regroup
