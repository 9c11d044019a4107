#include "regroup/labels/beliefs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "regroup/core/error.h"
#include "regroup/core/parallel.h"

namespace regroup {
namespace {

constexpr double normal_95 = 1.959964;

/// Numbers that a fit looks at, at most: more do not make it better, only slower.
constexpr std::size_t most_numbers = 1'000'000;
constexpr std::size_t least_rows = 4000;

void check(const BeliefInput& input) {
  const auto fits = [&](std::size_t size) { return size == 0 || size == input.labels.size(); };
  if (!fits(input.footing.size()) || !fits(input.trusted.size()))
    throw UserError("the labels and what is known about them are not equally many");
  for (std::size_t i = 0; i < input.labels.size(); ++i)
    if (input.labels[i] < 0 || input.labels[i] >= input.classes)
      throw UserError(
          fmt::format("sample {} has the label {}; there are {} classes", i, input.labels[i], input.classes));
}

/// Scores that are not numbers, or far below all others, would decide everything.
void read_scores(const BeliefInput& input, std::size_t sample, std::span<float> row) {
  constexpr float deepest = 16;
  input.predict(sample, row);
  const float top = *std::ranges::max_element(row);
  for (float& score : row) {
    if (std::isnan(score) || score == INFINITY)
      throw UserError(fmt::format("the prediction for sample {} is not a number", sample));
    score = std::max(score, top - deepest);
  }
}

bool is_trained_on(const BeliefInput& input, std::size_t sample) {
  return !input.footing.empty() && input.footing[sample] == Footing::trained_on;
}

/// The predictions for some samples of a footing, evenly spread.
PredictionRows some_rows(const BeliefInput& input, bool trained_on) {
  std::vector<std::uint32_t> all;
  for (std::size_t i = 0; i < input.labels.size(); ++i)
    if (is_trained_on(input, i) == trained_on) all.push_back(static_cast<std::uint32_t>(i));
  const auto width = static_cast<std::size_t>(input.classes);
  const std::size_t count = std::min(all.size(), std::max(least_rows, most_numbers / width));
  PredictionRows rows{input.classes, std::vector<float>(count * width), {}};
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint32_t sample = all[k * all.size() / count];
    rows.labels.push_back(input.labels[sample]);
    read_scores(input, sample, rows.row(k));
  }
  return rows;
}

PredictionRows comparable(PredictionRows trained, const PredictionRows& held_out, const Memorisation& memorisation) {
  for (std::size_t i = 0; i < trained.size(); ++i) memorisation.undo(trained.row(i), trained.labels[i]);
  trained.scores.insert(trained.scores.end(), held_out.scores.begin(), held_out.scores.end());
  trained.labels.insert(trained.labels.end(), held_out.labels.begin(), held_out.labels.end());
  return trained;
}

double noise_rate_of(const PredictionRows& rows, const TransitionFit& fit) {
  std::vector<double> posterior(static_cast<std::size_t>(rows.classes));
  double wrong = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    posterior_of(rows.row(i), rows.labels[i], fit, posterior);
    wrong += 1 - posterior[static_cast<std::size_t>(rows.labels[i])];
  }
  return rows.size() > 0 ? wrong / static_cast<double>(rows.size()) : 0;
}

/// The standard error of the noise rate: the luck of the samples that the matrix is read from, how much the answer
/// depends on which those are, and how well memorisation is known.
double standard_error(const PredictionRows& trained, const PredictionRows& held_out, const Memorisation& memorisation,
                      double rate) {
  const TransitionOptions narrow{.clear = 0.05}, wide{.clear = 0.2};
  const PredictionRows rows = comparable(trained, held_out, memorisation);
  const auto clear = TransitionOptions().clear * static_cast<double>(rows.size());
  const double luck = rate * (1 - rate) / std::max(clear, 1.0);
  const double spread =
      (noise_rate_of(rows, fit_transition(rows, narrow)) - noise_rate_of(rows, fit_transition(rows, wide))) / 2;
  double slope = 0;
  if (memorisation.known) {
    Memorisation other = memorisation;
    for (float& margin : other.to) margin -= static_cast<float>(memorisation.error);
    const PredictionRows moved = comparable(trained, held_out, other);
    slope = noise_rate_of(moved, fit_transition(moved)) - rate;
  }
  return std::sqrt(luck + spread * spread + slope * slope);
}

Estimate share_with_error(double value, double error) {
  return {value, std::clamp(value - normal_95 * error, 0.0, 1.0), std::clamp(value + normal_95 * error, 0.0, 1.0)};
}

Belief belief_of(std::span<const double> posterior, std::int32_t label) {
  Belief belief;
  belief.right = static_cast<float>(posterior[static_cast<std::size_t>(label)]);
  for (std::size_t y = 0; y < posterior.size(); ++y) {
    if (static_cast<std::int32_t>(y) == label) continue;
    if (belief.other >= 0 && posterior[y] <= posterior[static_cast<std::size_t>(belief.other)]) continue;
    belief.other = static_cast<std::int32_t>(y);
  }
  if (belief.other >= 0)
    belief.other_probability = static_cast<float>(posterior[static_cast<std::size_t>(belief.other)]);
  belief.likeliest = belief.other_probability > belief.right ? belief.other : label;
  return belief;
}

double entropy_of(std::span<const float> log_weights) {
  const float top = *std::ranges::max_element(log_weights);
  double sum = 0, weighted = 0;
  for (const float score : log_weights) {
    const auto difference = static_cast<double>(score - top), weight = std::exp(difference);
    sum += weight;
    weighted += weight * difference;
  }
  return std::log(sum) - weighted / sum;
}

void judge(const BeliefInput& input, Beliefs& beliefs) {
  constexpr std::size_t grain = 1000;
  const auto width = static_cast<std::size_t>(input.classes);
  beliefs.samples.resize(input.labels.size());
  parallel_for(input.labels.size(), grain, input.threads, [&](std::size_t begin, std::size_t end) {
    std::vector<float> row(width);
    std::vector<double> posterior(width);
    for (std::size_t i = begin; i < end; ++i) {
      read_scores(input, i, row);
      if (is_trained_on(input, i)) beliefs.memorisation.undo(row, input.labels[i]);
      const double label_probability = posterior_of(row, input.labels[i], beliefs.fit, posterior);
      beliefs.samples[i] = belief_of(posterior, input.labels[i]);
      beliefs.samples[i].label_probability = static_cast<float>(label_probability);
      beliefs.samples[i].vagueness = static_cast<float>(entropy_of(row));
      if (!input.trusted.empty() && input.trusted[i] != 0)
        beliefs.samples[i] = {1, input.labels[i], beliefs.samples[i].other, 0, 1, 0};
    }
  });
}

}  // namespace

Estimate Beliefs::expected_wrong(std::span<const std::uint32_t> chosen) const {
  double wrong = 0, variance = 0;
  for (const std::uint32_t sample : chosen) {
    const double p = 1 - static_cast<double>(samples[sample].right);
    wrong += p;
    variance += p * (1 - p);
  }
  // An error of the model moves all beliefs together, those most that are least certain.
  const auto all = static_cast<double>(samples.size());
  const double common = doubt > 0 ? uncertainty * all * variance / doubt : 0;
  const double error = std::sqrt(variance + common * common);
  const auto count = static_cast<double>(chosen.size());
  return {wrong, std::clamp(wrong - normal_95 * error, 0.0, count), std::clamp(wrong + normal_95 * error, 0.0, count)};
}

Beliefs believe(const BeliefInput& input) {
  check(input);
  Beliefs beliefs;
  const PredictionRows trained = some_rows(input, true), held_out = some_rows(input, false);
  beliefs.memorisation = fit_memorisation(trained, held_out);
  const PredictionRows rows = comparable(trained, held_out, beliefs.memorisation);
  beliefs.fit = fit_transition(rows);
  beliefs.uncertainty = standard_error(trained, held_out, beliefs.memorisation, noise_rate_of(rows, beliefs.fit));
  judge(input, beliefs);

  std::vector<std::vector<std::uint32_t>> members(static_cast<std::size_t>(input.classes));
  double wrong = 0;
  for (std::size_t i = 0; i < input.labels.size(); ++i) {
    members[static_cast<std::size_t>(input.labels[i])].push_back(static_cast<std::uint32_t>(i));
    const auto right = static_cast<double>(beliefs.samples[i].right);
    wrong += 1 - right;
    beliefs.doubt += right * (1 - right);
  }
  beliefs.noise_rate = share_with_error(input.labels.empty() ? 0 : wrong / static_cast<double>(input.labels.size()),
                                        beliefs.uncertainty);
  for (const auto& samples : members) {
    const Estimate count = beliefs.expected_wrong(samples);
    const auto of = static_cast<double>(std::max<std::size_t>(samples.size(), 1));
    beliefs.class_noise_rates.push_back({count.value / of, count.low / of, count.high / of});
  }
  return beliefs;
}

}  // namespace regroup
