#include "regroup/rml/selection.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "regroup/core/random.h"

namespace regroup {
namespace {

double expected_keys(const std::vector<double>& exponents, double log_tau) {
  double sum = 0;
  for (const double exponent : exponents) sum += -std::expm1(-std::exp(log_tau - exponent));
  return sum;
}

TEST(Selection, ProcessesALossAsInEquation2) {
  EXPECT_DOUBLE_EQ(processed_loss(3, {}), 12);
  EXPECT_DOUBLE_EQ(processed_loss(3, {.epsilon = 0.5}), 10.5);
  EXPECT_DOUBLE_EQ(processed_loss(3, {.process_losses = false}), 3);
}

TEST(Selection, ProbabilitiesAreThoseOfEquation3) {
  const std::vector<float> losses = {0.1F, 1, 2.5F};
  const auto log_p = log_selection_probabilities(losses, {});
  double sum = 0;
  for (const float loss : losses) sum += std::exp(-loss * (loss + 1.0));
  for (std::size_t i = 0; i < losses.size(); ++i)
    EXPECT_NEAR(std::exp(log_p[i]), std::exp(-losses[i] * (losses[i] + 1.0)) / sum, 1e-12);
}

TEST(Selection, ProbabilitiesDoNotUnderflow) {
  const auto log_p = log_selection_probabilities(std::vector<float>{100, 100, 101}, {});
  EXPECT_NEAR(log_p[0], -std::log(2), 1e-9);
  EXPECT_NEAR(log_p[2], -std::log(2) - (101 * 102 - 100 * 101), 1e-9);
  const auto huge = log_selection_probabilities(std::vector<float>{std::numeric_limits<float>::max(), 0}, {});
  EXPECT_EQ(huge[1], 0);
  EXPECT_LT(huge[0], -1e70);
}

TEST(RaceEnd, ExpectsTheAskedNumberOfKeys) {
  Stream stream(3, Purpose::synthetic);
  for (const double scale : {0.0, 1e-6, 1.0, 30.0, 1000.0, 1e8}) {
    for (const std::size_t samples : {1U, 2U, 7U, 300U}) {
      std::vector<double> exponents(samples);
      for (double& exponent : exponents) exponent = scale * stream.uniform();
      for (const double share : {0.01, 0.3, 0.9, 1.0}) {
        const double count = std::max(share * static_cast<double>(samples), 0.5);
        const RaceEnd end = race_end(exponents, count);
        EXPECT_TRUE(std::isfinite(end.log_tau));
        EXPECT_NEAR(expected_keys(exponents, end.log_tau), count, 0.01 + 2e-3 * std::sqrt(count))
            << samples << " samples, scale " << scale << ", count " << count;
      }
    }
  }
}

TEST(RaceEnd, CountsTheTriesUntilThatManyDifferentSamples) {
  // Four equal samples: the expected number of throws until two different ones were seen is about 4 log(2) in the
  // Poisson form.
  const RaceEnd end = race_end(std::vector<double>(4, 5.0), 2);
  EXPECT_NEAR(end.tries, 4 * std::log(2), 0.02);
  EXPECT_NEAR(end.spread, 1, 1e-2);
}

}  // namespace
}  // namespace regroup
