#include "regroup/stats/mixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "regroup/core/error.h"
#include "regroup/stats/condensed.h"

namespace regroup {
namespace {

constexpr double half_log_two_pi = 0.91893853320467274178;

// A component never gets lighter than this, so that its logarithm stays finite and it can grow back.
constexpr double least_weight = 1e-12;

/// log(exp(a) + exp(b)), and the share of exp(b) in it.
struct LogSum {
  double value;
  double share;
};

LogSum log_sum(double a, double b) {
  const double distance = b - a;
  const double ratio = std::exp(-std::abs(distance));
  const double large = 1 / (1 + ratio);
  return {std::max(a, b) + std::log1p(ratio), distance >= 0 ? large : ratio * large};
}

double log_density(const GaussianComponent& part, double value) {
  const double z = (value - part.mean) / part.deviation;
  return std::log(part.weight) - std::log(part.deviation) - half_log_two_pi - 0.5 * z * z;
}

/// std::lgamma writes a global variable, which two threads must not.
double log_gamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

double log_density(const BetaComponent& part, double log_value, double log_rest) {
  return std::log(part.weight) + log_gamma(part.alpha + part.beta) - log_gamma(part.alpha) - log_gamma(part.beta) +
         (part.alpha - 1) * log_value + (part.beta - 1) * log_rest;
}

/// What the M-step needs of a component: the weighted number, mean and variance of its values.
struct Moments {
  double weight = 0, mean = 0, variance = 0;
};

/// The moments of the values under weights count * share (upper) and count * (1 - share) (lower).
std::array<Moments, 2> weighted_moments(const CondensedValues& data, const std::vector<double>& shares) {
  std::array<Moments, 2> parts;
  const std::size_t size = data.values.size();
  for (std::size_t i = 0; i < size; ++i) {
    const double up = data.counts[i] * shares[i];
    const double down = data.counts[i] - up;
    parts[0].weight += down;
    parts[0].mean += down * data.values[i];
    parts[1].weight += up;
    parts[1].mean += up * data.values[i];
  }
  for (Moments& part : parts) part.mean /= std::max(part.weight, least_weight);
  // A second pass: sums of squares would cancel where a component is narrow and far from 0.
  for (std::size_t i = 0; i < size; ++i) {
    const double up = data.counts[i] * shares[i];
    const double from_lower = data.values[i] - parts[0].mean, from_upper = data.values[i] - parts[1].mean;
    parts[0].variance += (data.counts[i] - up) * from_lower * from_lower;
    parts[1].variance += up * from_upper * from_upper;
  }
  for (Moments& part : parts) part.variance /= std::max(part.weight, least_weight);
  return parts;
}

Moments all_moments(const CondensedValues& data) {
  return weighted_moments(data, std::vector<double>(data.values.size(), 0.0))[0];
}

/// M-step. With tied deviations (upper = ratio * lower) the maximum is at
/// lower^2 = (n_lower v_lower + n_upper v_upper / ratio^2) / n.
void maximise(const CondensedValues& data, const std::vector<double>& shares, double ratio, double floor,
              GaussianMixture& fit) {
  const auto parts = weighted_moments(data, shares);
  const std::array<GaussianComponent*, 2> components = {&fit.lower, &fit.upper};
  for (std::size_t k = 0; k < 2; ++k) {
    components[k]->weight = std::clamp(parts[k].weight / data.total, least_weight, 1 - least_weight);
    // An empty component stays where it was.
    if (parts[k].weight <= least_weight * data.total) continue;
    components[k]->mean = parts[k].mean;
    components[k]->deviation = std::max(std::sqrt(parts[k].variance), floor);
  }
  if (ratio > 0) {
    const double spread = parts[0].weight * parts[0].variance + parts[1].weight * parts[1].variance / (ratio * ratio);
    fit.lower.deviation = std::max(std::sqrt(spread / data.total), floor);
    fit.upper.deviation = ratio * fit.lower.deviation;
  }
}

/// E-step: the upper component's share of every value. Returns the mean log-likelihood.
double expect(const CondensedValues& data, const GaussianMixture& fit, std::vector<double>& shares) {
  // log_density with what does not depend on the value taken out of the loop.
  const double lower_log = log_density(fit.lower, fit.lower.mean), upper_log = log_density(fit.upper, fit.upper.mean);
  const double lower_scale = 1 / fit.lower.deviation, upper_scale = 1 / fit.upper.deviation;
  double sum = 0;
  for (std::size_t i = 0; i < data.values.size(); ++i) {
    const double from_lower = (data.values[i] - fit.lower.mean) * lower_scale;
    const double from_upper = (data.values[i] - fit.upper.mean) * upper_scale;
    const LogSum both = log_sum(lower_log - 0.5 * from_lower * from_lower, upper_log - 0.5 * from_upper * from_upper);
    shares[i] = both.share;
    sum += data.counts[i] * both.value;
  }
  return sum / data.total;
}

GaussianMixture run_em(const CondensedValues& data, double split, double floor, const GaussianMixtureOptions& options) {
  GaussianMixture fit;
  std::vector<double> shares(data.values.size());
  double seen = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    shares[i] = seen >= split * data.total ? 1 : 0;
    seen += data.counts[i];
  }
  // Where a side of the split is empty, its component starts as all of the values.
  const Moments all = all_moments(data);
  fit.lower.mean = fit.upper.mean = all.mean;
  fit.lower.deviation = fit.upper.deviation = std::max(std::sqrt(all.variance), floor);
  maximise(data, shares, options.deviation_ratio, floor, fit);
  fit.log_likelihood = expect(data, fit, shares);
  while (!fit.converged && fit.iterations < options.max_iterations) {
    maximise(data, shares, options.deviation_ratio, floor, fit);
    const double likelihood = expect(data, fit, shares);
    fit.converged = likelihood - fit.log_likelihood < options.tolerance;
    fit.log_likelihood = likelihood;
    ++fit.iterations;
  }
  return fit;
}

void check_unit_interval(std::span<const float> values) {
  const auto odd = std::find_if_not(values.begin(), values.end(), [](float v) { return v >= 0 && v <= 1; });
  if (odd == values.end()) return;
  throw UserError(
      fmt::format("value {} of {} is {}; a beta mixture is fitted to values in [0, 1], normalise them first",
                  odd - values.begin(), values.size(), *odd));
}

/// The beta distribution with this mean and variance. A variance of 0 would make it a point, one of m (1 - m) two.
void match_moments(const Moments& moments, BetaComponent& part) {
  const double widest = moments.mean * (1 - moments.mean);
  const double strength = std::clamp(widest / std::max(moments.variance, 1e-12) - 1, 1e-2, 1e5);
  part.alpha = moments.mean * strength;
  part.beta = (1 - moments.mean) * strength;
}

}  // namespace

double GaussianMixture::upper_posterior(double value) const {
  if (upper.weight <= 0) return 0;
  if (lower.weight <= 0) return 1;
  return log_sum(log_density(lower, value), log_density(upper, value)).share;
}

double GaussianMixture::separation() const {
  const double spread = std::hypot(lower.deviation, upper.deviation) / std::sqrt(2.0);
  return spread > 0 ? (upper.mean - lower.mean) / spread : 0;
}

GaussianMixture fit_gaussian_mixture(std::span<const float> values, const GaussianMixtureOptions& options) {
  check_finite(values);
  CondensedValues data = condense(values, static_cast<std::size_t>(std::max(options.points, 1)));
  const double origin = data.values.empty() ? 0 : data.values.front();
  const double range = data.values.empty() ? 0 : data.values.back() - origin;
  if (!(range > 0)) {
    GaussianMixture fit;
    fit.lower = {1, origin, 0};
    fit.upper = {0, origin, 0};
    fit.converged = true;
    return fit;
  }
  // On [0, 1], so that squares neither overflow nor vanish, whatever the scale of the values.
  for (double& value : data.values) value = (value - origin) / range;
  const double deviation = std::sqrt(all_moments(data).variance);
  GaussianMixture best;
  best.log_likelihood = -std::numeric_limits<double>::infinity();
  bool best_is_crossed = true;
  for (const double split : {0.2, 0.5, 0.8}) {
    GaussianMixture fit = run_em(data, split, options.min_deviation * deviation, options);
    const bool swapped = fit.upper.mean < fit.lower.mean;
    if (swapped) std::swap(fit.lower, fit.upper);
    // With free deviations that was only a change of names. With tied ones the ratio is now the wrong way round, so
    // such a fit is taken only if there is no other.
    const bool crossed = swapped && options.deviation_ratio > 0;
    const bool better = crossed == best_is_crossed ? fit.log_likelihood > best.log_likelihood : best_is_crossed;
    if (!better) continue;
    best = fit;
    best_is_crossed = crossed;
  }
  for (GaussianComponent* part : {&best.lower, &best.upper}) {
    part->mean = origin + range * part->mean;
    part->deviation *= range;
  }
  best.log_likelihood -= std::log(range);
  best.single_log_likelihood = -half_log_two_pi - 0.5 - std::log(deviation) - std::log(range);
  return best;
}

double BetaMixture::upper_posterior(double value) const {
  if (upper.weight <= 0) return 0;
  if (lower.weight <= 0) return 1;
  const double inside = std::clamp(value, margin, 1 - margin);
  const double log_value = std::log(inside), log_rest = std::log1p(-inside);
  return log_sum(log_density(lower, log_value, log_rest), log_density(upper, log_value, log_rest)).share;
}

BetaMixture fit_beta_mixture(std::span<const float> values, const BetaMixtureOptions& options) {
  check_unit_interval(values);
  BetaMixture fit;
  fit.margin = std::clamp(options.margin, 1e-9, 0.49);
  fit.lower = {0.5, 1, 2};
  fit.upper = {0.5, 2, 1};
  CondensedValues data = condense(values, static_cast<std::size_t>(std::max(options.points, 1)));
  for (double& value : data.values) value = std::clamp(value, fit.margin, 1 - fit.margin);
  if (data.values.empty() || data.values.front() == data.values.back()) {
    if (!data.values.empty()) match_moments({1, data.values.front(), 0}, fit.lower);
    fit.upper = fit.lower;
    fit.lower.weight = 1;
    fit.upper.weight = 0;
    fit.converged = true;
    return fit;
  }
  std::vector<double> log_values, log_rests, shares(data.values.size());
  for (const double value : data.values) {
    log_values.push_back(std::log(value));
    log_rests.push_back(std::log1p(-value));
  }
  const auto expect_shares = [&] {
    // log_density is linear in the two logarithms.
    const double lower_log = log_density(fit.lower, 0, 0), upper_log = log_density(fit.upper, 0, 0);
    double sum = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const LogSum both =
          log_sum(lower_log + (fit.lower.alpha - 1) * log_values[i] + (fit.lower.beta - 1) * log_rests[i],
                  upper_log + (fit.upper.alpha - 1) * log_values[i] + (fit.upper.beta - 1) * log_rests[i]);
      shares[i] = both.share;
      sum += data.counts[i] * both.value;
    }
    return sum / data.total;
  };
  fit.log_likelihood = expect_shares();
  while (!fit.converged && fit.iterations < options.max_iterations) {
    const auto parts = weighted_moments(data, shares);
    const std::array<BetaComponent*, 2> components = {&fit.lower, &fit.upper};
    for (std::size_t k = 0; k < 2; ++k) {
      components[k]->weight = std::clamp(parts[k].weight / data.total, least_weight, 1 - least_weight);
      if (parts[k].weight > least_weight * data.total) match_moments(parts[k], *components[k]);
    }
    const double likelihood = expect_shares();
    fit.converged = std::abs(likelihood - fit.log_likelihood) < options.tolerance;
    fit.log_likelihood = likelihood;
    ++fit.iterations;
  }
  if (fit.upper.mean() < fit.lower.mean()) std::swap(fit.lower, fit.upper);
  return fit;
}

}  // namespace regroup
