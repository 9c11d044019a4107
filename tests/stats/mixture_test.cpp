#include "regroup/stats/mixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "regroup/core/error.h"
#include "regroup/core/random.h"

namespace regroup {
namespace {

std::vector<float> two_gaussians(int count, double upper_weight, GaussianComponent lower, GaussianComponent upper,
                                 std::uint64_t seed) {
  Stream stream(seed, Purpose::synthetic);
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    const GaussianComponent& part = stream.uniform() < upper_weight ? upper : lower;
    values.push_back(static_cast<float>(part.mean + part.deviation * stream.normal()));
  }
  return values;
}

/// Beta(alpha, beta) for whole numbers: the alpha-th smallest of alpha + beta - 1 uniform numbers.
double beta_number(Stream& stream, int alpha, int beta) {
  std::vector<double> uniform;
  for (int i = 0; i < alpha + beta - 1; ++i) uniform.push_back(stream.uniform());
  std::nth_element(uniform.begin(), uniform.begin() + (alpha - 1), uniform.end());
  return uniform[static_cast<std::size_t>(alpha - 1)];
}

std::vector<float> two_betas(int count, double upper_weight, BetaComponent lower, BetaComponent upper,
                             std::uint64_t seed) {
  Stream stream(seed, Purpose::synthetic);
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    const BetaComponent& part = stream.uniform() < upper_weight ? upper : lower;
    values.push_back(
        static_cast<float>(beta_number(stream, static_cast<int>(part.alpha), static_cast<int>(part.beta))));
  }
  return values;
}

double normal_density(double x, const GaussianComponent& part) {
  return part.weight / (part.deviation * std::sqrt(2 * std::acos(-1.0))) *
         std::exp(-std::pow((x - part.mean) / part.deviation, 2) / 2);
}

/// EM as the textbook has it: densities, responsibilities, weighted means. No logarithms, no scaling, no starts.
GaussianMixture textbook_em(const std::vector<float>& values, GaussianMixture fit, int steps) {
  for (int step = 0; step < steps; ++step) {
    std::vector<double> up;
    for (const double x : values) {
      const double a = normal_density(x, fit.lower), b = normal_density(x, fit.upper);
      up.push_back(b / (a + b));
    }
    for (const bool upper : {false, true}) {
      double n = 0, sum = 0, squares = 0;
      for (std::size_t i = 0; i < values.size(); ++i) n += upper ? up[i] : 1 - up[i];
      for (std::size_t i = 0; i < values.size(); ++i) sum += (upper ? up[i] : 1 - up[i]) * values[i];
      for (std::size_t i = 0; i < values.size(); ++i) {
        squares += (upper ? up[i] : 1 - up[i]) * std::pow(values[i] - sum / n, 2);
      }
      GaussianComponent& part = upper ? fit.upper : fit.lower;
      part = {n / static_cast<double>(values.size()), sum / n, std::sqrt(squares / n)};
    }
  }
  return fit;
}

double textbook_likelihood(const std::vector<float>& values, const GaussianMixture& fit) {
  double sum = 0;
  for (const double x : values) sum += std::log(normal_density(x, fit.lower) + normal_density(x, fit.upper));
  return sum / static_cast<double>(values.size());
}

void expect_sane(const GaussianMixture& fit) {
  EXPECT_TRUE(std::isfinite(fit.log_likelihood));
  EXPECT_NEAR(fit.lower.weight + fit.upper.weight, 1, 1e-9);
  EXPECT_LE(fit.lower.mean, fit.upper.mean);
  for (const GaussianComponent& part : {fit.lower, fit.upper}) {
    EXPECT_TRUE(std::isfinite(part.mean));
    EXPECT_TRUE(std::isfinite(part.deviation));
    EXPECT_GE(part.weight, 0);
  }
  for (const double value : {-1e38, -1.0, 0.0, 1e-40, 0.5, 1.0, 1e38, fit.lower.mean, fit.upper.mean}) {
    const double posterior = fit.upper_posterior(value);
    EXPECT_TRUE(posterior >= 0 && posterior <= 1) << posterior << " at " << value;
  }
}

TEST(GaussianMixture, StepsAreThoseOfTheTextbook) {
  const auto values = two_gaussians(200, 0.3, {0, 0, 1}, {0, 4, 0.7}, 1);
  GaussianMixtureOptions options;
  options.tolerance = -1;
  options.max_iterations = 5;
  const GaussianMixture some = fit_gaussian_mixture(values, options);
  options.max_iterations = 25;
  const GaussianMixture more = fit_gaussian_mixture(values, options);
  EXPECT_EQ(more.iterations, 25);
  const GaussianMixture expected = textbook_em(values, some, 20);
  EXPECT_NEAR(more.upper.weight, expected.upper.weight, 1e-9);
  EXPECT_NEAR(more.lower.mean, expected.lower.mean, 1e-9);
  EXPECT_NEAR(more.upper.mean, expected.upper.mean, 1e-9);
  EXPECT_NEAR(more.lower.deviation, expected.lower.deviation, 1e-9);
  EXPECT_NEAR(more.upper.deviation, expected.upper.deviation, 1e-9);
  EXPECT_NEAR(more.log_likelihood, textbook_likelihood(values, expected), 1e-9);
  for (const double x : {-1.0, 2.0, 2.5, 5.0}) {
    const double a = normal_density(x, expected.lower), b = normal_density(x, expected.upper);
    EXPECT_NEAR(more.upper_posterior(x), b / (a + b), 1e-9);
  }
}

TEST(GaussianMixture, FindsWhatMadeTheValues) {
  const auto values = two_gaussians(50'000, 0.3, {0, 1, 0.5}, {0, 4, 1}, 2);
  const GaussianMixture fit = fit_gaussian_mixture(values);
  EXPECT_TRUE(fit.converged);
  EXPECT_NEAR(fit.upper.weight, 0.3, 0.01);
  EXPECT_NEAR(fit.lower.mean, 1, 0.02);
  EXPECT_NEAR(fit.lower.deviation, 0.5, 0.02);
  EXPECT_NEAR(fit.upper.mean, 4, 0.03);
  EXPECT_NEAR(fit.upper.deviation, 1, 0.03);
}

TEST(GaussianMixture, TiedDeviationsKeepTheirRatio) {
  const auto values = two_gaussians(20'000, 0.6, {0, 0, 1}, {0, 3, 1.5}, 3);
  GaussianMixtureOptions options;
  options.deviation_ratio = 1.5;
  const GaussianMixture fit = fit_gaussian_mixture(values, options);
  EXPECT_NEAR(fit.upper.deviation / fit.lower.deviation, 1.5, 1e-9);
  EXPECT_NEAR(fit.upper.weight, 0.6, 0.03);
  EXPECT_NEAR(fit.lower.deviation, 1, 0.03);
}

TEST(GaussianMixture, LikelihoodNeverFallsBetweenSteps) {
  for (const double ratio : {0.0, 1.0, 1.3}) {
    for (const double distance : {0.0, 1.0, 3.0}) {
      const auto values = two_gaussians(300, 0.2, {0, 0, 1}, {0, distance, 2}, 4);
      GaussianMixtureOptions options;
      options.deviation_ratio = ratio;
      options.tolerance = -1;
      double last = -std::numeric_limits<double>::infinity();
      for (int steps = 0; steps < 25; ++steps) {
        options.max_iterations = steps;
        const double now = fit_gaussian_mixture(values, options).log_likelihood;
        EXPECT_GE(now, last - 1e-12) << "step " << steps << ", ratio " << ratio << ", distance " << distance;
        last = now;
      }
    }
  }
}

TEST(GaussianMixture, IsNoWorseThanOneGaussian) {
  const auto values = two_gaussians(3000, 0.5, {0, 0, 1}, {0, 0, 1}, 5);
  const GaussianMixture fit = fit_gaussian_mixture(values);
  EXPECT_GE(fit.log_likelihood, fit.single_log_likelihood - 1e-3);
  EXPECT_LT(fit.log_likelihood, fit.single_log_likelihood + 0.01);
}

TEST(GaussianMixture, CondensingHardlyChangesTheFit) {
  const auto values = two_gaussians(10'000, 0.4, {0, 0, 1}, {0, 3, 1}, 6);
  GaussianMixtureOptions options;
  options.points = 512;
  const GaussianMixture condensed = fit_gaussian_mixture(values, options);
  options.points = 10'000;
  const GaussianMixture full = fit_gaussian_mixture(values, options);
  EXPECT_NEAR(condensed.upper.weight, full.upper.weight, 5e-3);
  EXPECT_NEAR(condensed.lower.mean, full.lower.mean, 5e-3);
  EXPECT_NEAR(condensed.upper.deviation, full.upper.deviation, 5e-3);
}

TEST(GaussianMixture, ScaleAndOriginDoNotMatter) {
  const auto values = two_gaussians(1000, 0.4, {0, 0, 1}, {0, 5, 1}, 7);
  const GaussianMixture plain = fit_gaussian_mixture(values);
  for (const double scale : {1e-36, 1e35}) {
    std::vector<float> scaled;
    for (const float value : values) scaled.push_back(static_cast<float>(scale * value));
    const GaussianMixture fit = fit_gaussian_mixture(scaled);
    expect_sane(fit);
    EXPECT_NEAR(fit.upper.weight, plain.upper.weight, 1e-4);
    EXPECT_NEAR(fit.upper.mean / scale, plain.upper.mean, 1e-3);
  }
}

TEST(GaussianMixture, TakesOddShapes) {
  constexpr float huge = std::numeric_limits<float>::max();
  constexpr float denormal = std::numeric_limits<float>::denorm_min();
  std::vector<float> tail, lonely(1000, 1.0F);
  for (int i = 1; i <= 5000; ++i) tail.push_back(1e6F / static_cast<float>(i * i));
  lonely.push_back(2);
  const std::vector<std::vector<float>> shapes = {{},
                                                  {3},
                                                  {2, 2, 2},
                                                  {1, 2},
                                                  {0, 0, 1},
                                                  {-huge, huge},
                                                  {0, denormal},
                                                  {huge, huge, 0},
                                                  {-0.0F, 0.0F},
                                                  tail,
                                                  lonely,
                                                  std::vector<float>(9000, 0.25F)};
  for (const auto& shape : shapes) {
    for (const double ratio : {0.0, 1.1}) {
      GaussianMixtureOptions options;
      options.deviation_ratio = ratio;
      SCOPED_TRACE(testing::Message() << shape.size() << " values, ratio " << ratio);
      expect_sane(fit_gaussian_mixture(shape, options));
    }
  }
}

TEST(GaussianMixture, EqualValuesAreOneComponent) {
  const GaussianMixture fit = fit_gaussian_mixture(std::vector<float>(10, 7.0F));
  EXPECT_EQ(fit.lower.weight, 1);
  EXPECT_EQ(fit.lower.mean, 7);
  EXPECT_EQ(fit.upper_posterior(7), 0);
  EXPECT_TRUE(fit.converged);
}

TEST(GaussianMixture, NamesAValueThatIsNotFinite) {
  try {
    fit_gaussian_mixture(std::vector<float>{1, 2, std::numeric_limits<float>::infinity()});
    FAIL() << "an infinite value went through";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("value 2"), std::string::npos) << error.what();
  }
}

double beta_density(double x, const BetaComponent& part) {
  return part.weight * std::tgamma(part.alpha + part.beta) / (std::tgamma(part.alpha) * std::tgamma(part.beta)) *
         std::pow(x, part.alpha - 1) * std::pow(1 - x, part.beta - 1);
}

/// M-correction's EM, from its start.
BetaMixture textbook_beta_em(const std::vector<float>& values, int steps) {
  BetaMixture fit;
  fit.lower = {0.5, 1, 2};
  fit.upper = {0.5, 2, 1};
  for (int step = 0; step < steps; ++step) {
    std::vector<double> up;
    for (const double x : values) {
      const double a = beta_density(x, fit.lower), b = beta_density(x, fit.upper);
      up.push_back(b / (a + b));
    }
    for (const bool upper : {false, true}) {
      double n = 0, sum = 0, squares = 0;
      for (std::size_t i = 0; i < values.size(); ++i) n += upper ? up[i] : 1 - up[i];
      for (std::size_t i = 0; i < values.size(); ++i) sum += (upper ? up[i] : 1 - up[i]) * values[i];
      const double mean = sum / n;
      for (std::size_t i = 0; i < values.size(); ++i) {
        squares += (upper ? up[i] : 1 - up[i]) * std::pow(values[i] - mean, 2);
      }
      const double alpha = mean * (mean * (1 - mean) / (squares / n) - 1);
      BetaComponent& part = upper ? fit.upper : fit.lower;
      part = {n / static_cast<double>(values.size()), alpha, alpha * (1 - mean) / mean};
    }
  }
  return fit;
}

TEST(BetaMixture, StepsAreThoseOfMCorrection) {
  const auto values = two_betas(300, 0.4, {0, 2, 8}, {0, 6, 3}, 8);
  BetaMixtureOptions options;
  options.tolerance = -1;
  const BetaMixture fit = fit_beta_mixture(values, options);
  const BetaMixture expected = textbook_beta_em(values, 10);
  EXPECT_EQ(fit.iterations, 10);
  EXPECT_NEAR(fit.upper.weight, expected.upper.weight, 1e-9);
  EXPECT_NEAR(fit.lower.alpha, expected.lower.alpha, 1e-6);
  EXPECT_NEAR(fit.lower.beta, expected.lower.beta, 1e-6);
  EXPECT_NEAR(fit.upper.alpha, expected.upper.alpha, 1e-6);
  EXPECT_NEAR(fit.upper.beta, expected.upper.beta, 1e-6);
  double likelihood = 0;
  for (const double x : values)
    likelihood += std::log(beta_density(x, expected.lower) + beta_density(x, expected.upper));
  EXPECT_NEAR(fit.log_likelihood, likelihood / 300, 1e-9);
  const double a = beta_density(0.4, expected.lower), b = beta_density(0.4, expected.upper);
  EXPECT_NEAR(fit.upper_posterior(0.4), b / (a + b), 1e-9);
}

TEST(BetaMixture, FindsWhatMadeTheValues) {
  const auto values = two_betas(20'000, 0.35, {0, 2, 12}, {0, 8, 3}, 9);
  BetaMixtureOptions options;
  options.max_iterations = 200;
  const BetaMixture fit = fit_beta_mixture(values, options);
  EXPECT_TRUE(fit.converged);
  EXPECT_NEAR(fit.upper.weight, 0.35, 0.02);
  EXPECT_NEAR(fit.lower.mean(), 2.0 / 14, 0.01);
  EXPECT_NEAR(fit.upper.mean(), 8.0 / 11, 0.01);
}

TEST(BetaMixture, TakesOddShapes) {
  std::vector<float> tail;
  for (int i = 1; i <= 5000; ++i) tail.push_back(1 / static_cast<float>(i));
  const std::vector<std::vector<float>> shapes = {{},
                                                  {0.5F},
                                                  {0},
                                                  {1, 1},
                                                  {0, 1},
                                                  {0, 0, 0, 1},
                                                  {0.3F, 0.3F, 0.7F},
                                                  {1e-40F, 1e-30F},
                                                  tail,
                                                  std::vector<float>(9000, 1.0F)};
  for (const auto& shape : shapes) {
    SCOPED_TRACE(testing::Message() << shape.size() << " values");
    BetaMixtureOptions options;
    options.max_iterations = 100;
    const BetaMixture fit = fit_beta_mixture(shape, options);
    EXPECT_TRUE(std::isfinite(fit.log_likelihood));
    EXPECT_NEAR(fit.lower.weight + fit.upper.weight, 1, 1e-9);
    EXPECT_LE(fit.lower.mean(), fit.upper.mean());
    for (const double value : {0.0, 1e-3, 0.5, 1.0}) {
      const double posterior = fit.upper_posterior(value);
      EXPECT_TRUE(posterior >= 0 && posterior <= 1) << posterior << " at " << value;
    }
  }
}

TEST(BetaMixture, NamesAValueOutsideOfTheUnitInterval) {
  for (const float odd : {-0.1F, 1.5F, std::numeric_limits<float>::quiet_NaN()}) {
    try {
      fit_beta_mixture(std::vector<float>{0.5F, odd});
      FAIL() << odd << " went through";
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("value 1 of 2"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace regroup
