// What the paper proves, as properties of the code. Random cases come from RapidCheck with the seed that CTest sets.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "regroup/core/random.h"
#include "regroup/rml/regroup_median.h"
#include "regroup/rml/selection.h"

namespace regroup {
namespace {

rc::Gen<std::vector<float>> some_losses() {
  return rc::gen::suchThat(rc::gen::container<std::vector<float>>(rc::gen::map(
                               rc::gen::inRange(0, 80'000), [](int i) { return static_cast<float>(i) * 1e-4F; })),
                           [](const std::vector<float>& losses) { return !losses.empty(); });
}

TEST(Proposition1, ProcessingShiftsLogProbabilitiesBySquareLossMinusBeta) {
  EXPECT_TRUE(rc::check([] {
    const auto losses = *some_losses();
    const double epsilon = *rc::gen::inRange(0, 30) * 0.1;
    const auto plain = log_selection_probabilities(losses, {.process_losses = false});
    const auto processed = log_selection_probabilities(losses, {.epsilon = epsilon});
    double plain_sum = 0, processed_sum = 0;
    for (const double loss : losses) {
      plain_sum += std::exp(-loss);
      processed_sum += std::exp(-loss * (loss + epsilon));
    }
    const double beta = std::log(plain_sum / processed_sum);
    for (std::size_t i = 0; i < losses.size(); ++i) {
      const double loss = losses[i];
      RC_ASSERT(std::abs(plain[i] - processed[i] - (loss * (loss + epsilon - 1) - beta)) < 1e-7);
    }
  }));
}

TEST(Corollary1, ProcessingMakesTheFirstDrawStochasticallySmaller) {
  // The paper argues that the bound of Proposition 2 falls, which does not hold for every distribution. This does:
  // whatever the threshold, a loss up to it is at least as likely with processing as without.
  EXPECT_TRUE(rc::check([] {
    auto losses = *some_losses();
    std::sort(losses.begin(), losses.end());
    const auto plain = log_selection_probabilities(losses, {.process_losses = false});
    const auto processed = log_selection_probabilities(losses, {});
    double plain_below = 0, processed_below = 0;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      plain_below += std::exp(plain[i]);
      processed_below += std::exp(processed[i]);
      RC_ASSERT(processed_below >= plain_below - 1e-9);
    }
  }));
}

TEST(RegroupMedian, NeverRaisesALoss) {
  EXPECT_TRUE(rc::check([] {
    const auto losses = *some_losses();
    const int classes = *rc::gen::inRange(1, 4);
    std::vector<std::int32_t> labels;
    for (std::size_t i = 0; i < losses.size(); ++i) labels.push_back(static_cast<std::int32_t>(i) % classes);
    RegroupOptions options;
    options.groups = 2 * *rc::gen::inRange(1, 4);
    options.draw = DrawSize::per_group(*rc::gen::inRange(1, 10));
    options.centre = *rc::gen::arbitrary<bool>() ? Centre::median_of_means : Centre::mean;
    options.selection.process_losses = *rc::gen::arbitrary<bool>();
    std::vector<float> weights(losses.size());
    RegroupMedian(ClassIndex(labels, classes), options).weights(losses, 1, weights);
    for (const float weight : weights) RC_ASSERT(weight > 0 && weight <= 1);
  }));
}

TEST(RegroupMedian, StaysBetweenTheSmallestAndTheLargestLossOfTheClass) {
  EXPECT_TRUE(rc::check([] {
    const auto losses = *some_losses();
    RegroupOptions options;
    options.draw = DrawSize::per_group(*rc::gen::inRange(1, 5));
    std::vector<float> estimates(losses.size());
    RegroupMedian(ClassIndex(std::vector<std::int32_t>(losses.size(), 0), 1), options).estimates(losses, 1, estimates);
    const auto [low, high] = std::minmax_element(losses.begin(), losses.end());
    for (const float estimate : estimates) RC_ASSERT(estimate >= *low * 0.999F && estimate <= *high * 1.001F);
  }));
}

TEST(Proposition2, TheEstimateIsRarelyFarFromTheMeanOfTheSelectionDistribution) {
  // P(|estimate - mu| > e) <= exp(-C1 (1/2 - C2 sigma^2 / e^2)^2) with C1 = 2 (n + 1), C2 = (n + k) / (k (n + 1)). It
  // holds for e^2 > 2 C2 sigma^2 and independent draws: so a class that is far larger than a draw, and own losses of
  // the same distribution.
  constexpr std::size_t samples = 20'000;
  constexpr int groups = 6, per_group = 5;
  std::vector<float> losses(samples);
  Stream stream(2, Purpose::synthetic);
  for (float& loss : losses) loss = static_cast<float>(-std::log(1 - stream.uniform()));
  const auto log_p = log_selection_probabilities(losses, {});
  double mean = 0, square = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    mean += std::exp(log_p[i]) * losses[i];
    square += std::exp(log_p[i]) * losses[i] * losses[i];
  }
  const double variance = square - mean * mean;

  RegroupOptions options;
  options.groups = groups;
  options.draw = DrawSize::per_group(per_group);
  std::vector<float> estimates(samples);
  RegroupMedian(ClassIndex(std::vector<std::int32_t>(samples, 0), 1), options).estimates(losses, 1, estimates);

  constexpr double c1 = 2 * (groups + 1);
  constexpr double c2 = (groups + per_group) / static_cast<double>(per_group * (groups + 1));
  for (const double factor : {2.05, 2.5, 4.0, 8.0, 20.0}) {
    const double distance = std::sqrt(factor * c2 * variance);
    // Weighted by the selection probability of the own sample, since the own loss is drawn from that distribution too.
    double far = 0;
    for (std::size_t i = 0; i < samples; ++i)
      if (std::abs(estimates[i] - mean) > distance) far += std::exp(log_p[i]);
    const double bound = std::exp(-c1 * std::pow(0.5 - 1 / factor, 2));
    EXPECT_LE(far, bound) << "distance " << distance;
  }
}

}  // namespace
}  // namespace regroup
