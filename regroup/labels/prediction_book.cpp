#include "regroup/labels/prediction_book.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace regroup {

PredictionBook::PredictionBook(std::vector<std::int32_t> labels, int classes)
    : labels_(std::move(labels)),
      classes_(classes),
      names_(classes > few ? labels_.size() * kept : 0, 0),
      turns_(labels_.size(), 0),
      losses_(labels_.size(), 0.0F),
      margins_(labels_.size(), 0.0F),
      mean_(static_cast<std::size_t>(classes)),
      order_(static_cast<std::size_t>(classes)) {
  shares_.assign(labels_.size() * width(), 0.0F);
}

bool PredictionBook::empty() const {
  return std::ranges::all_of(turns_, [](std::int32_t turns) { return turns == 0; });
}

bool PredictionBook::sound() const {
  const auto is_share = [](float share) { return share >= 0 && share <= 1.0001F; };
  const auto is_class = [this](std::int32_t name) { return name >= 0 && name < classes_; };
  return std::ranges::all_of(shares_, is_share) && std::ranges::all_of(names_, is_class) &&
         std::ranges::all_of(turns_, [](std::int32_t turns) { return turns >= 0; }) &&
         std::ranges::all_of(losses_, [](float loss) { return std::isfinite(loss); }) &&
         std::ranges::all_of(margins_, [](float margin) { return std::isfinite(margin); });
}

void PredictionBook::record(std::span<const std::uint32_t> samples, std::span<const float> log_probabilities) {
  const auto classes = static_cast<std::size_t>(classes_);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::uint32_t sample = samples[i];
    const auto row = log_probabilities.subspan(i * classes, classes);
    const auto label = static_cast<std::size_t>(labels_[sample]);
    read(sample, mean_);
    const float turn = 1.0F / static_cast<float>(turns_[sample] + 1);
    float best_other = -INFINITY;
    for (std::size_t y = 0; y < classes; ++y) {
      const float probability = std::isfinite(row[y]) ? std::exp(row[y]) : 0.0F;
      mean_[y] += (probability - mean_[y]) * turn;
      if (y != label) best_other = std::max(best_other, row[y]);
    }
    const float margin = row[label] - best_other;
    if (std::isfinite(margin)) margins_[sample] += (margin - margins_[sample]) * turn;
    if (std::isfinite(row[label])) losses_[sample] += (-row[label] - losses_[sample]) * turn;
    ++turns_[sample];
    store(sample, mean_);
  }
}

void PredictionBook::read(std::size_t sample, std::span<float> probabilities) const {
  if (turns_[sample] == 0) {
    std::ranges::fill(probabilities, 1.0F / static_cast<float>(classes_));
    return;
  }
  const auto shares = std::span(shares_).subspan(sample * width(), width());
  if (names_.empty()) {
    std::ranges::copy(shares, probabilities.begin());
    return;
  }
  const float known = std::accumulate(shares.begin(), shares.end(), 0.0F);
  std::ranges::fill(probabilities, std::max(0.0F, 1 - known) / static_cast<float>(classes_ - kept));
  for (std::size_t k = 0; k < kept; ++k) probabilities[static_cast<std::size_t>(names_[sample * kept + k])] = shares[k];
}

void PredictionBook::store(std::size_t sample, std::span<const float> probabilities) {
  const auto shares = std::span(shares_).subspan(sample * width(), width());
  if (names_.empty()) {
    std::ranges::copy(probabilities, shares.begin());
    return;
  }
  // The given label comes first, however unlikely: what it is given is what matters most.
  const std::int32_t label = labels_[sample];
  std::iota(order_.begin(), order_.end(), 0);
  std::swap(order_[0], order_[static_cast<std::size_t>(label)]);
  std::partial_sort(order_.begin() + 1, order_.begin() + kept, order_.end(), [&](std::int32_t a, std::int32_t b) {
    const float first = probabilities[static_cast<std::size_t>(a)], second = probabilities[static_cast<std::size_t>(b)];
    return first != second ? first > second : a < b;
  });
  for (std::size_t k = 0; k < kept; ++k) {
    names_[sample * kept + k] = order_[k];
    shares[k] = probabilities[static_cast<std::size_t>(order_[k])];
  }
}

}  // namespace regroup
