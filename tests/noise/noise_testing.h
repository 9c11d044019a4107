#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "regroup/core/random.h"
#include "regroup/noise/transition.h"
#include "support/user_error.h"

namespace regroup {

/// Classes of different sizes: class c has a share proportional to c + 1.
inline std::vector<std::int32_t> uneven_labels(std::size_t count, int classes) {
  std::vector<std::int32_t> labels;
  while (labels.size() < count) {
    for (int c = 0; c < classes; ++c) labels.insert(labels.end(), static_cast<std::size_t>(c) + 1, c);
  }
  labels.resize(count);
  return labels;
}

// The statistics are at fixed seeds, so they cannot flicker. A bound of 4.5 deviations would be crossed by chance at
// one seed in 147,000, on either side.
inline constexpr double bound = 4.5;

/// Whether the labels could have been drawn from the matrix: Pearson's chi-square over all rows, its quantile at
/// 4.5 deviations by the approximation of Wilson and Hilferty; what has probability 0 must not occur.
inline void expect_drawn_from(const TransitionMatrix& matrix, const std::vector<std::int32_t>& clean,
                              const std::vector<std::int32_t>& noisy) {
  const int classes = matrix.classes();
  TransitionMatrix counts(classes);
  for (std::size_t i = 0; i < clean.size(); ++i) counts(clean[i], noisy[i]) += 1;
  double chi_square = 0;
  int degrees = 0;
  for (int from = 0; from < classes; ++from) {
    double samples = 0;
    for (int to = 0; to < classes; ++to) samples += counts(from, to);
    if (samples == 0) continue;
    --degrees;
    for (int to = 0; to < classes; ++to) {
      const double expected = samples * matrix(from, to);
      if (expected == 0) {
        EXPECT_EQ(counts(from, to), 0) << from << " became " << to;
        continue;
      }
      ASSERT_GE(expected, 5) << "too few samples for a chi-square";
      chi_square += std::pow(counts(from, to) - expected, 2) / expected;
      ++degrees;
    }
  }
  if (degrees == 0) return;
  const double spread = 2.0 / (9 * degrees);
  EXPECT_LT(chi_square, degrees * std::pow(1 - spread + bound * std::sqrt(spread), 3)) << degrees << " degrees";
}

}  // namespace regroup
