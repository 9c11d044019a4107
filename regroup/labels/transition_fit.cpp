#include "regroup/labels/transition_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "regroup/labels/confident.h"

namespace regroup {
namespace {

std::size_t cell(int from, int to, int classes) {
  return static_cast<std::size_t>(from) * static_cast<std::size_t>(classes) + static_cast<std::size_t>(to);
}

/// How much more counts vary than by chance: 0 not at all, 1 as much as they can. With total N and probability p the
/// variance of a count is N p (1 - p) (1 + (N - 1) rho).
class Overdispersion {
 public:
  void add(double count, double total, double probability) {
    if (total <= 1 || probability <= 0 || probability >= 1) return;
    const double difference = count - total * probability;
    squares_ += difference * difference / (total * probability * (1 - probability));
    cells_ += 1;
    weight_ += total - 1;
  }
  double rho() const { return weight_ > 0 ? std::clamp((squares_ - cells_) / weight_, 1e-4, 1.0) : 1e-4; }

  /// How many counts the prior is worth.
  double strength() const { return (1 - rho()) / rho(); }

 private:
  double squares_ = 0, cells_ = 0, weight_ = 0;
};

/// softmax(sharpness * row) into `out`.
void sharpened(std::span<const float> row, double sharpness, std::span<double> out) {
  const float top = *std::ranges::max_element(row);
  const auto factor = static_cast<float>(sharpness);
  double sum = 0;
  for (std::size_t y = 0; y < row.size(); ++y) {
    out[y] = static_cast<double>(std::exp(factor * (row[y] - top)));
    sum += out[y];
  }
  for (double& p : out) p /= sum;
}

double mean_log_likelihood(const PredictionRows& rows, const TransitionMatrix& transition, double sharpness) {
  std::vector<double> p(static_cast<std::size_t>(rows.classes));
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    sharpened(rows.row(i), sharpness, p);
    double likelihood = 0;
    for (int y = 0; y < rows.classes; ++y) likelihood += p[static_cast<std::size_t>(y)] * transition(y, rows.labels[i]);
    sum += std::log(std::max(likelihood, 1e-300));
  }
  return sum / static_cast<double>(std::max<std::size_t>(rows.size(), 1));
}

/// Of each predicted class how often the clearest predictions come with each label.
std::vector<double> clear_counts(const PredictionRows& rows, const TransitionOptions& options) {
  const auto width = static_cast<std::size_t>(rows.classes);
  std::vector<double> counts(width * width);
  for (const std::uint32_t i : most_confident(rows, options.clear, options.least_clear)) {
    const auto row = rows.row(i);
    ++counts[cell(static_cast<int>(std::ranges::max_element(row) - row.begin()), rows.labels[i], rows.classes)];
  }
  return counts;
}

}  // namespace

TransitionMatrix shrunk_transition(const std::vector<double>& counts, int classes) {
  const auto width = static_cast<std::size_t>(classes);
  std::vector<double> total(width), right(width);
  for (int y = 0; y < classes; ++y) {
    const auto row = std::span(counts).subspan(cell(y, 0, classes), width);
    total[static_cast<std::size_t>(y)] = std::accumulate(row.begin(), row.end(), 0.0);
    right[static_cast<std::size_t>(y)] = row[static_cast<std::size_t>(y)];
  }
  const double all = std::accumulate(total.begin(), total.end(), 0.0);
  const double share = (std::accumulate(right.begin(), right.end(), 0.0) + 0.5) / (all + 1);
  const double alike = classes > 2 ? 1.0 / (classes - 1) : 1;
  Overdispersion of_right, of_wrong;
  for (int y = 0; y < classes; ++y) {
    const auto at = static_cast<std::size_t>(y);
    of_right.add(right[at], total[at], share);
    for (int o = 0; o < classes; ++o)
      if (o != y) of_wrong.add(counts[cell(y, o, classes)], total[at] - right[at], alike);
  }
  const double strength = of_right.strength(), wrong_strength = of_wrong.strength();
  TransitionMatrix matrix(classes);
  for (int y = 0; y < classes; ++y) {
    const auto at = static_cast<std::size_t>(y);
    const double keep = (right[at] + strength * share) / (total[at] + strength);
    const double wrong = total[at] - right[at];
    for (int o = 0; o < classes; ++o)
      matrix(y, o) =
          o == y ? keep
                 : (1 - keep) * (counts[cell(y, o, classes)] + wrong_strength * alike) / (wrong + wrong_strength);
  }
  return matrix;
}

TransitionFit fit_transition(const PredictionRows& rows, const TransitionOptions& options) {
  // Factors by which the sharpness is changed, until none of them helps.
  constexpr std::array steps{0.67, 0.82, 0.9, 0.97, 1.03, 1.1, 1.22, 1.5};
  constexpr double softest = 0.05, sharpest = 20;
  constexpr int most_rounds = 40;
  TransitionFit fit{symmetric_transition(rows.classes, 0), 1, 0};
  if (rows.size() == 0 || rows.classes < 2) return fit;
  fit.transition = shrunk_transition(clear_counts(rows, options), rows.classes);
  fit.log_likelihood = mean_log_likelihood(rows, fit.transition, fit.sharpness);
  for (int round = 0; round < most_rounds; ++round) {
    const double before = fit.sharpness;
    for (const double step : steps) {
      const double sharpness = std::clamp(before * step, softest, sharpest);
      const double likelihood = mean_log_likelihood(rows, fit.transition, sharpness);
      if (likelihood <= fit.log_likelihood) continue;
      fit.log_likelihood = likelihood;
      fit.sharpness = sharpness;
    }
    if (fit.sharpness == before) break;
  }
  return fit;
}

double clear_disagreement(const PredictionRows& rows, const TransitionOptions& options) {
  if (rows.size() == 0 || rows.classes < 2) return 0;
  const TransitionMatrix transition = shrunk_transition(clear_counts(rows, options), rows.classes);
  double differ = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row(i);
    const auto best = static_cast<int>(std::ranges::max_element(row) - row.begin());
    differ += 1 - transition(best, best);
  }
  return differ / static_cast<double>(rows.size());
}

double posterior_of(std::span<const float> row, std::int32_t label, const TransitionFit& fit,
                    std::span<double> posterior) {
  sharpened(row, fit.sharpness, posterior);
  double sum = 0;
  for (std::size_t y = 0; y < row.size(); ++y) {
    posterior[y] *= fit.transition(static_cast<int>(y), label);
    sum += posterior[y];
  }
  if (sum <= 0) {
    std::ranges::fill(posterior, 0.0);
    posterior[static_cast<std::size_t>(std::ranges::max_element(row) - row.begin())] = 1;
    return 0;
  }
  for (double& p : posterior) p /= sum;
  return sum;
}

}  // namespace regroup
