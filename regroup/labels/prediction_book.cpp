#include "regroup/labels/prediction_book.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "regroup/core/simd.h"
#include "regroup/labels/prediction_kernels.h"

namespace regroup {
namespace {

const auto move_towards = REGROUP_WIDEST_KERNEL(move_towards);
const auto find_largest = REGROUP_WIDEST_KERNEL(find_largest);

}  // namespace

PredictionBook::PredictionBook(std::vector<std::int32_t> labels, int classes)
    : labels_(std::move(labels)),
      classes_(classes),
      names_(classes > few ? labels_.size() * kept : 0, 0),
      turns_(labels_.size(), 0),
      losses_(labels_.size(), 0.0F),
      margins_(labels_.size(), 0.0F) {
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

void PredictionBook::record(std::span<const std::uint32_t> samples, std::span<const float> logits,
                            std::span<std::int32_t> predicted, const Workers& workers) {
  const auto classes = static_cast<std::size_t>(classes_);
  // Few are not worth a second thread. A sample that has two turns at once has both on one thread, in their order.
  constexpr std::size_t worth_it = 4096, ahead = 8;
  const std::size_t parts = std::clamp<std::size_t>(logits.size() / worth_it, 1, workers.count);
  for_each(parts, workers, [&](std::size_t part, std::size_t) {
    thread_local std::vector<float> probabilities;
    probabilities.resize(classes);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (i + ahead < samples.size() && samples[i + ahead] % parts == part) fetch(samples[i + ahead]);
      const std::uint32_t sample = samples[i];
      if (sample % parts != part) continue;
      const LabelScore score =
          softmax(logits.subspan(i * classes, classes), static_cast<std::size_t>(labels_[sample]), probabilities);
      take_turn(sample, score, probabilities);
      if (!predicted.empty()) predicted[sample] = score.likeliest;
    }
  });
}

void PredictionBook::take_turn(std::size_t sample, const LabelScore& score, std::span<float> probabilities) {
  const float turn = 1.0F / static_cast<float>(turns_[sample] + 1);
  if (std::isfinite(score.margin)) margins_[sample] += (score.margin - margins_[sample]) * turn;
  if (std::isfinite(score.loss)) {
    losses_[sample] += (score.loss - losses_[sample]) * turn;
  } else {
    for (float& probability : probabilities)
      if (!std::isfinite(probability)) probability = 0;
  }
  if (names_.empty()) {
    add_turn_of_few(sample, probabilities);
  } else {
    add_turn(sample, probabilities);
  }
  ++turns_[sample];
}

/// So that memory is there when the sample has its turn.
void PredictionBook::fetch(std::size_t sample) const {
  __builtin_prefetch(&shares_[sample * width()], 1);
  if (!names_.empty()) __builtin_prefetch(&names_[sample * kept], 1);
  __builtin_prefetch(&labels_[sample]);
  __builtin_prefetch(&turns_[sample], 1);
  __builtin_prefetch(&losses_[sample], 1);
  __builtin_prefetch(&margins_[sample], 1);
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

void PredictionBook::add_turn_of_few(std::size_t sample, std::span<const float> probabilities) {
  const float turn = 1.0F / static_cast<float>(turns_[sample] + 1);
  const auto shares = std::span(shares_).subspan(sample * width(), width());
  for (std::size_t y = 0; y < shares.size(); ++y) shares[y] += (probabilities[y] - shares[y]) * turn;
}

void PredictionBook::add_turn(std::size_t sample, std::span<const float> probabilities) {
  thread_local std::vector<float> mean;
  mean.resize(probabilities.size());
  const float turn = 1.0F / static_cast<float>(turns_[sample] + 1);
  const auto shares = std::span(shares_).subspan(sample * kept, kept);
  const auto names = std::span(names_).subspan(sample * kept, kept);
  const bool known = turns_[sample] > 0;
  const float others = known ? std::max(0.0F, 1 - std::accumulate(shares.begin(), shares.end(), 0.0F)) /
                                   static_cast<float>(classes_ - kept)
                             : 1.0F / static_cast<float>(classes_);
  move_towards(others, probabilities.data(), turn, mean.size(), mean.data());
  for (std::size_t k = 0; k < kept && known; ++k) {
    const auto y = static_cast<std::size_t>(names[k]);
    mean[y] = shares[k] + (probabilities[y] - shares[k]) * turn;
  }
  // The given label comes first, however unlikely: what it is given is what matters most.
  float& own = mean[static_cast<std::size_t>(labels_[sample])];
  names[0] = labels_[sample];
  shares[0] = std::exchange(own, -1.0F);
  find_largest(mean.data(), mean.size(), kept - 1, &names[1]);
  for (std::size_t k = 1; k < kept; ++k) shares[k] = mean[static_cast<std::size_t>(names[k])];
}

}  // namespace regroup
