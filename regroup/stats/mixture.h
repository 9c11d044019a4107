#pragma once

#include <span>

namespace regroup {

// One-dimensional mixtures of two components, fitted by expectation-maximisation (EM). They take any finite input:
// where all values are equal, or there are none, the lower component holds everything and the upper one has weight 0.
//
//   const GaussianMixture fit = fit_gaussian_mixture(normalise(losses, quantile_range(losses)));
//   const double wrong = fit.upper_posterior(0.7);  // the probability that this value belongs to the larger losses

struct GaussianMixtureOptions {
  int max_iterations = 200;
  double tolerance = 1e-7;      ///< stop when a step raises the mean log-likelihood by less
  double min_deviation = 0.02;  ///< of a component, as a share of the deviation of all values: none collapses
  double deviation_ratio = 0;   ///< upper deviation / lower deviation if they are tied, 0 where both are free
  int points = 4096;            ///< above this many values, the fit sees means of neighbours instead (condensed.h)
};

struct GaussianComponent {
  double weight = 0;
  double mean = 0;
  double deviation = 0;
};

struct GaussianMixture {
  GaussianComponent lower;  ///< the component with the smaller mean
  GaussianComponent upper;
  double log_likelihood = 0;         ///< mean over the values
  double single_log_likelihood = 0;  ///< of one Gaussian in place of the two
  int iterations = 0;
  bool converged = false;

  /// The probability that a value comes from the upper component.
  double upper_posterior(double value) const;

  /// Distance of the means in units of the root mean square deviation; two equal humps show as two from 2 on.
  double separation() const;
};

/// EM from three starts (the values split at their 20, 50 and 80 % quantile); the one with the highest likelihood is
/// kept. Throws UserError that names the first value that is not finite.
GaussianMixture fit_gaussian_mixture(std::span<const float> values, const GaussianMixtureOptions& options = {});

struct BetaMixtureOptions {
  int max_iterations = 10;  ///< as in M-correction (Arazo et al. 2019); moment matching needs few
  double tolerance = 1e-6;  ///< stop when a step changes the mean log-likelihood by less
  double margin = 1e-3;     ///< values are kept this far from 0 and 1, where beta densities have poles
  int points = 4096;
};

struct BetaComponent {
  double weight = 0;
  double alpha = 1;
  double beta = 1;

  double mean() const { return alpha / (alpha + beta); }
};

struct BetaMixture {
  BetaComponent lower;  ///< the component with the smaller mean
  BetaComponent upper;
  double log_likelihood = 0;  ///< mean over the values
  int iterations = 0;
  bool converged = false;
  double margin = 1e-3;

  double upper_posterior(double value) const;
};

/// EM with weighted moment matching as the M-step: for a component with mean m and variance v,
/// alpha = m * (m (1 - m) / v - 1) and beta = (1 - m) * (m (1 - m) / v - 1). The values lie in [0, 1]; throws UserError
/// that names the first one that does not.
BetaMixture fit_beta_mixture(std::span<const float> values, const BetaMixtureOptions& options = {});

}  // namespace regroup
