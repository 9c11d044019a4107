#pragma once

#include <cmath>
#include <vector>

namespace regroup::testing {

/// The value that a chi-square of so many degrees of freedom exceeds once in 100,000 times (Wilson and Hilferty's
/// approximation, slightly too large in this tail).
inline double chi_square_bound(std::size_t degrees) {
  const double part = 2.0 / (9.0 * static_cast<double>(degrees));
  return static_cast<double>(degrees) * std::pow(1 - part + 4.2649 * std::sqrt(part), 3);
}

/// Pearson's statistic of counts against probabilities that sum to 1. Cells that expect fewer than five are put
/// together.
struct ChiSquare {
  double value = 0;
  std::size_t degrees = 0;
};

inline ChiSquare chi_square(const std::vector<int>& counts, const std::vector<double>& probabilities) {
  double draws = 0;
  for (const int count : counts) draws += count;
  ChiSquare result;
  double rest_expected = 0, rest_seen = 0;
  const auto add = [&](double expected, double seen) {
    result.value += (seen - expected) * (seen - expected) / expected;
    ++result.degrees;
  };
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = draws * probabilities[i];
    if (expected >= 5) {
      add(expected, counts[i]);
    } else {
      rest_expected += expected;
      rest_seen += counts[i];
    }
  }
  if (rest_expected > 1e-9 || rest_seen > 0) add(rest_expected, rest_seen);
  --result.degrees;
  return result;
}

}  // namespace regroup::testing
