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

double mean_wrong(const PredictionRows& rows, const TransitionFit& fit, const Adjustment& adjustment) {
  const auto width = static_cast<std::size_t>(rows.classes);
  std::vector<float> row(width);
  std::vector<double> posterior(width);
  double wrong = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(rows.row(i), row.begin());
    adjustment.apply(row, rows.labels[i]);
    posterior_of(row, rows.labels[i], fit, posterior);
    wrong += 1 - posterior[static_cast<std::size_t>(rows.labels[i])];
  }
  return wrong / static_cast<double>(rows.size());
}

/// The shift by which this share of the labels is believed to be wrong.
double fit_shift(const PredictionRows& rows, const TransitionFit& fit, double scale, double noise_rate) {
  constexpr int halvings = 24;
  if (rows.size() == 0) return 0;
  double low = -20, high = 20;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2;
    (mean_wrong(rows, fit, {scale, middle}) > noise_rate ? low : high) = middle;
  }
  return (low + high) / 2;
}

/// How far apart the two best classes beside the given label are, as the root of the mean square. Training on the label
/// hardly touches this.
double spread_of_others(const PredictionRows& rows) {
  constexpr float nothing = -3e38F;
  double squares = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    float best = nothing, next = nothing;
    const auto row = rows.row(i);
    for (std::size_t y = 0; y < row.size(); ++y) {
      if (y == static_cast<std::size_t>(rows.labels[i])) continue;
      next = std::max(next, std::min(best, row[y]));
      best = std::max(best, row[y]);
    }
    if (next > nothing) squares += static_cast<double>(best - next) * static_cast<double>(best - next);
  }
  return std::sqrt(squares / static_cast<double>(rows.size()));
}

double scale_between(const PredictionRows& from, const PredictionRows& to) {
  const double ratio = spread_of_others(to) / spread_of_others(from);
  return std::isfinite(ratio) && ratio > 0 ? std::clamp(ratio, 0.1, 10.0) : 1;
}

UncertainRate estimate_rate(const BeliefInput& input, const PredictionRows& trained, const PredictionRows& held_out,
                            bool has_held_out) {
  const std::optional<double> course = rate_of_course(input.course, input.course_turns);
  if (!course && !has_held_out) {
    const Disagreement differ = clear_disagreement(trained.size() > held_out.size() ? trained : held_out);
    return rate_of_held_out(differ.rate, differ.clear);
  }
  const Disagreement differ = clear_disagreement(held_out);
  const UncertainRate seen = rate_of_held_out(differ.rate, differ.clear);
  if (!course) return seen;
  const UncertainRate learnt = uncertain_rate_of_course(*course, clear_disagreement(trained).clear);
  return has_held_out ? combined(learnt, seen) : learnt;
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

/// Fills in the likeliest classes, the likeliest first. `order` is scratch.
void choose_likely(std::span<const double> posterior, std::vector<std::int32_t>& order, std::span<LikelyClass> chosen) {
  order.resize(posterior.size());
  std::iota(order.begin(), order.end(), 0);
  const auto last = order.begin() + static_cast<std::ptrdiff_t>(chosen.size());
  std::partial_sort(order.begin(), last, order.end(), [&](std::int32_t a, std::int32_t b) {
    const double first = posterior[static_cast<std::size_t>(a)], second = posterior[static_cast<std::size_t>(b)];
    return first != second ? first > second : a < b;
  });
  for (std::size_t k = 0; k < chosen.size(); ++k)
    chosen[k] = {order[k], static_cast<float>(posterior[static_cast<std::size_t>(order[k])])};
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
  beliefs.likely_each = std::min(width, Beliefs::most_likely);
  beliefs.likely.resize(input.labels.size() * beliefs.likely_each);
  parallel_for(input.labels.size(), grain, input.threads, [&](std::size_t begin, std::size_t end) {
    std::vector<float> row(width);
    std::vector<double> posterior(width);
    std::vector<std::int32_t> order;
    for (std::size_t i = begin; i < end; ++i) {
      read_scores(input, i, row);
      (is_trained_on(input, i) ? beliefs.trained_on : beliefs.held_out).apply(row, input.labels[i]);
      const double label_probability = posterior_of(row, input.labels[i], beliefs.fit, posterior);
      beliefs.samples[i] = belief_of(posterior, input.labels[i]);
      choose_likely(posterior, order, std::span(beliefs.likely).subspan(i * beliefs.likely_each, beliefs.likely_each));
      beliefs.samples[i].label_probability = static_cast<float>(label_probability);
      beliefs.samples[i].vagueness = static_cast<float>(entropy_of(row));
      if (!input.trusted.empty() && input.trusted[i] != 0)
        beliefs.samples[i] = {1, input.labels[i], beliefs.samples[i].other, 0, 1, 0};
    }
  });
}

}  // namespace

void Adjustment::apply(std::span<float> row, std::int32_t label) const {
  for (float& score : row) score *= static_cast<float>(scale);
  row[static_cast<std::size_t>(label)] += static_cast<float>(shift);
}

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
  // Fewer do not tell anything from chance.
  constexpr std::size_t enough = 50;
  beliefs.has_held_out = held_out.size() >= enough;
  const UncertainRate rate = estimate_rate(input, trained, held_out, beliefs.has_held_out);
  const PredictionRows& most = trained.size() > held_out.size() ? trained : held_out;
  beliefs.fit.transition = clear_transition(most, rate.value);
  beliefs.fit.sharpness = fit_sharpness(beliefs.has_held_out ? held_out : most, beliefs.fit.transition);
  if (beliefs.has_held_out && trained.size() >= enough) beliefs.trained_on.scale = scale_between(trained, held_out);
  beliefs.trained_on.shift = fit_shift(trained, beliefs.fit, beliefs.trained_on.scale, rate.value);
  beliefs.held_out.shift = beliefs.has_held_out ? fit_shift(held_out, beliefs.fit, 1, rate.value) : 0;
  beliefs.uncertainty = rate.error;
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
