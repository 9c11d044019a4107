#include "regroup/methods/m_correction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "regroup/core/random.h"

namespace regroup {
namespace {

/// Losses of right labels about 0.3, and of wrong ones about 4.
std::vector<float> two_humps(double wrong) {
  std::vector<float> losses;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    Stream random(5, Purpose::synthetic, 0, i);
    const bool is_wrong = i < 2000 * wrong;
    losses.push_back(static_cast<float>(std::abs((is_wrong ? 4 : 0.3) + 0.2 * random.normal())));
  }
  return losses;
}

TEST(MCorrection, SmallLossesKeepTheirLabelAndLargeOnesLoseIt) {
  const WrongLabelTable table = fit_wrong_label_table(two_humps(0.4));
  EXPECT_LT(table.at(0.3), 0.05);
  EXPECT_GT(table.at(4), 0.95);
  EXPECT_EQ(table.at(1e6), table.at(4.4)) << "beyond the range";
  EXPECT_EQ(table.at(0), table.at(table.range.low));
}

/// The table is the posterior of the mixture that is fitted to the losses between their quantiles, by Bayes' rule.
TEST(MCorrection, TheTableIsThePosteriorOfTheMixture) {
  const std::vector<float> losses = two_humps(0.4);
  const WrongLabelTable table = fit_wrong_label_table(losses);
  std::vector<float> sorted = losses;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_NEAR(table.range.low, sorted[100], 1e-2);
  EXPECT_NEAR(table.range.high, sorted[1899], 1e-2);
  const BetaMixture mixture = fit_beta_mixture(normalise_trimmed(losses, table.range));
  const auto density = [](const BetaComponent& part, double x) {
    return part.weight *
           std::exp(std::lgamma(part.alpha + part.beta) - std::lgamma(part.alpha) - std::lgamma(part.beta)) *
           std::pow(x, part.alpha - 1) * std::pow(1 - x, part.beta - 1);
  };
  for (const std::size_t i : {10U, 30U, 50U}) {
    const double x = static_cast<double>(i) / 99, lower = density(mixture.lower, x), upper = density(mixture.upper, x);
    EXPECT_NEAR(table.posterior[i], upper / (lower + upper), 1e-4) << i;
  }
}

TEST(MCorrection, TheTableStaysAtItsHighestValue) {
  const WrongLabelTable table = fit_wrong_label_table(two_humps(0.5));
  const auto highest = std::max_element(table.posterior.begin(), table.posterior.end());
  EXPECT_TRUE(std::all_of(highest, table.posterior.end(), [&](float value) { return value == *highest; }));
}

TEST(MCorrection, EqualLossesAllKeepTheirLabels) {
  EXPECT_EQ(fit_wrong_label_table(std::vector<float>(50, 1.5F)).at(1.5), 0);
}

}  // namespace
}  // namespace regroup
