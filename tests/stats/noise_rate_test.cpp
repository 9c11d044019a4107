#include "regroup/stats/noise_rate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "regroup/core/error.h"
#include "regroup/core/random.h"

namespace regroup {
namespace {

/// The log-odds against the observed label of samples with right or wrong labels: their mean, how far the classes'
/// means lie from each other, and the deviation within a class.
struct Spread {
  double mean, between, within;
};

struct Overlap {
  double noise;
  Spread right, wrong;
};

// What small networks with ten classes showed on Fashion-MNIST and CIFAR-10 under symmetric noise. Right labels' losses
// have their mode near 0 and a tail over 3, wrong ones a broad peak between 2.3 and 6; at 0.8 both lie about log(10).
const std::vector<Overlap> late = {
    {0.0, {-2.08, 1.60, 2.33}, {6.5, 1.1, 2.7}},    {0.1, {-1.65, 1.38, 1.99}, {6.43, 1.07, 2.64}},
    {0.2, {-1.29, 1.19, 1.75}, {5.44, 0.98, 2.14}}, {0.3, {-0.92, 1.00, 1.52}, {4.90, 0.90, 1.69}},
    {0.4, {-0.41, 0.80, 1.28}, {4.15, 0.81, 1.39}}, {0.5, {0.08, 0.56, 0.99}, {3.50, 0.71, 1.07}},
    {0.6, {0.57, 0.42, 0.72}, {2.96, 0.56, 0.74}},  {0.7, {1.23, 0.25, 0.39}, {2.49, 0.32, 0.46}},
    {0.8, {1.83, 0.15, 0.17}, {2.27, 0.18, 0.20}}};
const std::vector<Overlap> early = {
    {0.0, {-1.39, 1.50, 1.95}, {5.5, 0.9, 2.3}},    {0.1, {-0.85, 1.19, 1.55}, {5.37, 0.90, 2.33}},
    {0.2, {-0.53, 1.02, 1.34}, {4.45, 0.68, 1.85}}, {0.3, {-0.09, 0.79, 1.09}, {3.86, 0.63, 1.37}},
    {0.4, {0.33, 0.60, 0.90}, {3.32, 0.56, 1.07}},  {0.5, {0.72, 0.45, 0.70}, {2.92, 0.44, 0.83}},
    {0.6, {1.05, 0.37, 0.51}, {2.62, 0.35, 0.58}},  {0.7, {1.51, 0.25, 0.30}, {2.39, 0.20, 0.39}},
    {0.8, {1.93, 0.16, 0.16}, {2.25, 0.08, 0.19}}};
const std::vector<Overlap> plain = {
    {0.0, {-1.97, 1.72, 1.70}, {3.6, 0.3, 1.3}},    {0.1, {-0.70, 1.00, 1.12}, {4.03, 0.31, 1.38}},
    {0.2, {-0.22, 0.76, 0.90}, {3.41, 0.24, 1.06}}, {0.3, {0.15, 0.65, 0.75}, {3.10, 0.20, 0.85}},
    {0.4, {0.54, 0.55, 0.63}, {2.79, 0.14, 0.62}},  {0.5, {0.86, 0.44, 0.51}, {2.60, 0.13, 0.51}},
    {0.6, {1.16, 0.39, 0.41}, {2.45, 0.09, 0.38}},  {0.7, {1.54, 0.27, 0.26}, {2.32, 0.04, 0.27}},
    {0.8, {1.92, 0.18, 0.12}, {2.24, 0.03, 0.14}}};

struct Synthetic {
  std::vector<float> losses;
  std::vector<std::int32_t> labels;
};

/// Mean 0, deviation 1, with roughly the given skewness.
double skewed(Stream& stream, double skewness) {
  const double bend = skewness / 6, normal = stream.normal();
  return (normal + bend * (normal * normal - 1)) / std::sqrt(1 + 2 * bend * bend);
}

Synthetic make_losses(const Overlap& overlap, int count, int classes, std::uint64_t seed, bool classes_differ = true) {
  Stream stream(seed, Purpose::synthetic, static_cast<std::uint32_t>(classes));
  // A wrong label is one of classes - 1: the more there are, the less probability is left to each.
  const double more_classes = std::log((classes - 1) / 9.0);
  // In a hard class right labels are believed less, and more alike; wrong ones are believed more.
  std::vector<double> hardness(static_cast<std::size_t>(classes), 0.0);
  for (double& value : hardness) value = classes_differ ? std::clamp(stream.normal(), -1.6, 1.6) : 0;
  Synthetic out;
  for (int i = 0; i < count; ++i) {
    const std::uint32_t label = stream.below(static_cast<std::uint32_t>(classes));
    const double hard = hardness[label];
    const bool wrong = stream.uniform() < overlap.noise;
    const double odds = wrong ? overlap.wrong.mean + more_classes - overlap.wrong.between * hard +
                                    overlap.wrong.within * skewed(stream, -0.3)
                              : overlap.right.mean + overlap.right.between * hard +
                                    overlap.right.within * (1 - 0.25 * hard) * skewed(stream, 0.8);
    out.losses.push_back(static_cast<float>(std::log1p(std::exp(odds))));
    out.labels.push_back(static_cast<std::int32_t>(label));
  }
  return out;
}

void expect_near_truth(const std::vector<Overlap>& overlaps, int count, int classes,
                       const std::vector<std::uint64_t>& seeds) {
  for (const Overlap& overlap : overlaps) {
    for (const std::uint64_t seed : seeds) {
      const Synthetic data = make_losses(overlap, count, classes, seed);
      const ClassNoiseRates rates = estimate_class_noise_rates(data.losses, data.labels, classes);
      EXPECT_NEAR(rates.overall.rate, overlap.noise, 0.05) << classes << " classes, seed " << seed;
    }
  }
}

TEST(NoiseRate, IsRightWithinFiveHundredthsLateInTraining) { expect_near_truth(late, 10'000, 10, {1, 2, 3}); }

TEST(NoiseRate, IsRightWithinFiveHundredthsEarlyInTraining) { expect_near_truth(early, 10'000, 10, {1, 2, 3}); }

TEST(NoiseRate, IsRightWithinFiveHundredthsUnderPlainCrossEntropy) { expect_near_truth(plain, 10'000, 10, {1, 2, 3}); }

TEST(NoiseRate, IsRightWithFourClasses) {
  // With more noise than this, the right label of four is not the likeliest by much: in a hard class the losses of
  // right and wrong labels are the same.
  expect_near_truth({late.begin(), late.begin() + 4}, 10'000, 4, {1, 2});
}

TEST(NoiseRate, IsRightWithAHundredClasses) { expect_near_truth(late, 15'000, 100, {1}); }

TEST(NoiseRate, NeedsNoLabelsWhereClassesAreEquallyHard) {
  for (const std::vector<Overlap>& overlaps : {late, early}) {
    for (const Overlap& overlap : overlaps) {
      for (const std::uint64_t seed : {1, 2}) {
        const Synthetic data = make_losses(overlap, 10'000, 10, seed, false);
        EXPECT_NEAR(estimate_noise_rate(data.losses, 10).rate, overlap.noise, 0.05) << "seed " << seed;
      }
    }
  }
}

TEST(NoiseRate, SaysWhatItIsReadFrom) {
  const Synthetic half = make_losses(late[5], 10'000, 10, 1);
  const NoiseRate two = estimate_noise_rate(half.losses, 10);
  EXPECT_EQ(two.basis, NoiseRateBasis::mixture);
  EXPECT_TRUE(two.reliable);
  EXPECT_EQ(two.samples, 10'000U);

  const Synthetic clean = make_losses(late[0], 10'000, 10, 1);
  const NoiseRate one = estimate_noise_rate(clean.losses, 10);
  EXPECT_EQ(one.basis, NoiseRateBasis::confidence);
  EXPECT_TRUE(one.reliable);

  // An untrained network: the losses are all about log(10).
  const Synthetic untrained = make_losses({0.3, {2.2, 0, 0.1}, {2.2, 0, 0.1}}, 10'000, 10, 1, false);
  EXPECT_FALSE(estimate_noise_rate(untrained.losses, 10).reliable);
}

TEST(NoiseRate, FindsTheClassThatIsNoisierThanTheOthers) {
  const Synthetic some = make_losses(late[2], 10'000, 4, 1, false);
  const Synthetic many = make_losses({0.5, late[2].right, late[2].wrong}, 10'000, 4, 2, false);
  Synthetic data;
  for (const Synthetic* part : {&some, &many}) {
    for (std::size_t i = 0; i < part->losses.size(); ++i) {
      if ((part->labels[i] == 3) != (part == &many)) continue;
      data.losses.push_back(part->losses[i]);
      data.labels.push_back(part->labels[i]);
    }
  }
  const ClassNoiseRates rates = estimate_class_noise_rates(data.losses, data.labels, 4);
  ASSERT_EQ(rates.by_class.size(), 4U);
  for (std::size_t label = 0; label < 3; ++label) EXPECT_NEAR(rates.by_class[label].rate, 0.2, 0.05) << label;
  EXPECT_NEAR(rates.by_class[3].rate, 0.5, 0.05);
  EXPECT_NEAR(rates.overall.rate, 0.275, 0.05);
  EXPECT_TRUE(rates.by_class[3].reliable);
}

TEST(NoiseRate, LeavesOutSamplesWithoutALoss) {
  Synthetic data = make_losses(late[3], 5000, 10, 1);
  const double rate = estimate_class_noise_rates(data.losses, data.labels, 10).overall.rate;
  data.losses.insert(data.losses.end(), 3000, -1.0F);
  data.labels.insert(data.labels.end(), 3000, 0);
  const NoiseRate padded = estimate_class_noise_rates(data.losses, data.labels, 10).overall;
  EXPECT_EQ(padded.rate, rate);
  EXPECT_EQ(padded.samples, 5000U);
}

TEST(NoiseRate, TakesOddShapes) {
  constexpr float huge = std::numeric_limits<float>::max();
  constexpr float denormal = std::numeric_limits<float>::denorm_min();
  std::vector<float> tail;
  for (int i = 1; i <= 5000; ++i) tail.push_back(1e6F / static_cast<float>(i * i));
  std::vector<float> two_points(500, 0.01F);
  two_points.insert(two_points.end(), 300, 6.0F);
  const std::vector<std::vector<float>> shapes = {{},
                                                  {0.5F},
                                                  {0, 8},
                                                  {-1, -1},
                                                  {0, denormal, huge},
                                                  std::vector<float>(1000, 0.0F),
                                                  std::vector<float>(1000, 2.3F),
                                                  std::vector<float>(1000, huge),
                                                  tail,
                                                  two_points};
  for (const auto& shape : shapes) {
    for (const int classes : {1, 2, 10, 1000}) {
      SCOPED_TRACE(testing::Message() << shape.size() << " losses, " << classes << " classes");
      const std::vector<std::int32_t> labels(shape.size(), 0);
      const ClassNoiseRates rates = estimate_class_noise_rates(shape, labels, classes);
      EXPECT_TRUE(rates.overall.rate >= 0 && rates.overall.rate <= 1) << rates.overall.rate;
      EXPECT_EQ(rates.by_class.size(), static_cast<std::size_t>(classes));
      EXPECT_TRUE(shape.size() >= 100 || !rates.overall.reliable);
    }
  }
}

TEST(NoiseRate, OfEqualLossesIsAGuess) {
  const NoiseRate learned_by_heart = estimate_noise_rate(std::vector<float>(1000, 0.0F), 10);
  EXPECT_EQ(learned_by_heart.rate, 0);
  EXPECT_FALSE(learned_by_heart.reliable);
  EXPECT_EQ(learned_by_heart.basis, NoiseRateBasis::nothing);
}

TEST(NoiseRate, OfTwoPointsIsTheShareOfTheUpper) {
  std::vector<float> losses(500, 0.01F);
  losses.insert(losses.end(), 300, 6.0F);
  const NoiseRate rate = estimate_noise_rate(losses, 10);
  EXPECT_NEAR(rate.rate, 3.0 / 8, 1e-6);
  EXPECT_TRUE(rate.reliable);
}

TEST(NoiseRate, NamesTheSampleThatIsWrong) {
  const auto message = [](const std::vector<float>& losses, const std::vector<std::int32_t>& labels) -> std::string {
    try {
      estimate_class_noise_rates(losses, labels, 10);
    } catch (const UserError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_NE(message({1, std::nanf("")}, {0, 0}).find("sample 1 is nan"), std::string::npos);
  EXPECT_NE(message({1, 2, 3}, {0, 0, 10}).find("sample 2 is 10; expected 0 to 9"), std::string::npos);
  EXPECT_NE(message({1, 2}, {0}).find("1 labels for 2 losses"), std::string::npos);
}

TEST(LogOddsAgainst, IsZeroAtEvenOddsAndBounded) {
  EXPECT_NEAR(log_odds_against(std::log(2.0)), 0, 1e-12);
  EXPECT_NEAR(log_odds_against(std::log(10.0)), std::log(9.0), 1e-12);
  EXPECT_TRUE(std::isfinite(log_odds_against(0)));
  EXPECT_TRUE(std::isfinite(log_odds_against(1e38)));
}

}  // namespace
}  // namespace regroup
