#include "regroup/rml/selection.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace regroup {
namespace {

// Beyond these, exp(-tau * w) is 0 and 1 in doubles.
constexpr double largest_exponent = 700;
constexpr double largest_tau = 50;

struct Expectation {
  double count, slope, variance;
};

/// The expected number of keys up to tau, its derivative by log(tau), and the variance of the number.
Expectation keys_up_to(double tau, std::span<const double> weights) {
  Expectation sum{0, 0, 0};
  for (const double weight : weights) {
    const double rate = std::min(tau * weight, largest_exponent);
    const double late = std::exp(-rate);
    sum.count += 1 - late;
    sum.slope += rate * late;
    sum.variance += late * (1 - late);
  }
  return sum;
}

}  // namespace

std::vector<double> log_selection_probabilities(std::span<const float> losses, const SelectionOptions& options) {
  std::vector<double> result(losses.size());
  double smallest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < losses.size(); ++i) {
    result[i] = processed_loss(losses[i], options);
    smallest = std::min(smallest, result[i]);
  }
  double sum = 0;
  for (const double exponent : result) sum += std::exp(smallest - exponent);
  for (double& exponent : result) exponent = smallest - exponent - std::log(sum);
  return result;
}

RaceEnd race_end(std::span<const double> exponents, double count) {
  // Weights are taken relative to the sample of rank `count`: those far lighter hardly count, those far heavier surely
  // do.
  std::vector<double> weights(exponents.begin(), exponents.end());
  const auto rank = static_cast<std::size_t>(std::ceil(count));
  const auto reference_at = weights.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(weights.begin(), reference_at, weights.end());
  const double reference = *reference_at;
  double weight_sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = std::exp(std::min(reference - exponents[i], largest_exponent));
    weight_sum += weights[i];
  }

  // The rank - 1 heavier samples count at most 1 each and the others at most tau each, so tau is above `low`; the
  // `rank` heaviest count at least 1 - exp(-tau) each, so it is below `high` (or so large that doubles see no
  // difference).
  const auto samples = static_cast<double>(weights.size());
  const auto ranks = static_cast<double>(rank);
  double low = std::log((count - ranks + 1) / samples);
  double high = std::log(ranks > count ? std::min(std::log(ranks / (ranks - count)), largest_tau) : largest_tau);

  // Newton's method on log(tau), halving the bracket where a step would leave it. It need not be exact: tau decides how
  // much work a draw is, never what it gives.
  double log_tau = std::clamp(0.0, low, high);
  Expectation at = keys_up_to(std::exp(log_tau), weights);
  for (int step = 0; step < 50 && std::abs(at.count - count) > 1e-3 * std::sqrt(count) && high - low > 1e-6; ++step) {
    (at.count < count ? low : high) = log_tau;
    const double newton = log_tau + (count - at.count) / at.slope;
    log_tau = newton > low && newton < high ? newton : (low + high) / 2;
    at = keys_up_to(std::exp(log_tau), weights);
  }
  return {log_tau + reference, std::exp(log_tau) * weight_sum, std::sqrt(at.variance)};
}

}  // namespace regroup
