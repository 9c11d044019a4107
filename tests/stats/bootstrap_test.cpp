#include "regroup/stats/bootstrap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "support/user_error.h"

namespace regroup {
namespace {

using Outcomes = std::vector<std::vector<std::uint8_t>>;

Stream stream(std::uint64_t seed, std::uint32_t part = 0) { return {seed, Purpose::synthetic, part}; }

/// Runs that are right on an image with a probability of its own, the same for both methods but for `gain`.
PairedOutcomes make_runs(std::size_t seeds, std::size_t images, double gain, Stream&& random) {
  PairedOutcomes outcomes{Outcomes(seeds, std::vector<std::uint8_t>(images)),
                          Outcomes(seeds, std::vector<std::uint8_t>(images))};
  for (std::size_t image = 0; image < images; ++image) {
    const double ease = 0.4 + 0.5 * random.uniform();
    for (std::size_t seed = 0; seed < seeds; ++seed) {
      outcomes.first[seed][image] = random.uniform() < ease + gain ? 1 : 0;
      outcomes.second[seed][image] = random.uniform() < ease ? 1 : 0;
    }
  }
  return outcomes;
}

/// Makes the outcomes of all seeds those of the first: images are then all that varies.
PairedOutcomes repeat_first_seed(PairedOutcomes outcomes) {
  std::ranges::fill(outcomes.first, Outcomes(outcomes.first)[0]);
  std::ranges::fill(outcomes.second, Outcomes(outcomes.second)[0]);
  return outcomes;
}

/// By the definition: every seed and every image of a resample is drawn, and all differences are summed.
std::vector<double> slow_resamples(const PairedOutcomes& outcomes, int resamples, Stream&& random) {
  const std::size_t seeds = outcomes.first.size(), images = outcomes.first[0].size();
  std::vector<double> values;
  for (int i = 0; i < resamples; ++i) {
    std::vector<std::size_t> drawn_seeds(seeds), drawn_images(images);
    for (std::size_t& seed : drawn_seeds) seed = random.below(static_cast<std::uint32_t>(seeds));
    for (std::size_t& image : drawn_images) image = random.below(static_cast<std::uint32_t>(images));
    double sum = 0;
    for (const std::size_t seed : drawn_seeds) {
      for (const std::size_t image : drawn_images) sum += outcomes.first[seed][image] - outcomes.second[seed][image];
    }
    values.push_back(sum / static_cast<double>(seeds * images));
  }
  std::ranges::sort(values);
  return values;
}

double deviation(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(values.size());
  return std::sqrt(squares / count - sum * sum / (count * count));
}

TEST(Bootstrap, AgreesWithDrawingEverySeedAndImage) {
  constexpr int resamples = 20'000;
  for (const std::size_t seeds : {1, 2, 5}) {
    const PairedOutcomes outcomes = make_runs(seeds, 60, 0.1, stream(1));
    const std::vector<double> slow = slow_resamples(outcomes, resamples, stream(2));
    for (const double level : {0.5, 0.8, 0.95}) {
      const AccuracyDifference fast = bootstrap_difference(outcomes, stream(3), {resamples, level});
      // Quantiles of two samples of this size differ by 5 * 0.027 deviations once in a million times, and values lie
      // 1 / (60 * seeds) apart.
      const double bound = 0.135 * deviation(slow) + 1.0 / static_cast<double>(60 * seeds);
      const auto slow_quantile = [&](double share) { return slow[static_cast<std::size_t>(share * (resamples - 1))]; };
      EXPECT_NEAR(fast.low, slow_quantile((1 - level) / 2), bound) << seeds << " seeds, level " << level;
      EXPECT_NEAR(fast.high, slow_quantile((1 + level) / 2), bound) << seeds << " seeds, level " << level;
    }
  }
}

TEST(Bootstrap, TheDifferenceIsThatOfTheMeans) {
  const AccuracyDifference difference =
      bootstrap_difference({{{1, 1, 1, 0}, {1, 1, 0, 0}}, {{1, 0, 0, 0}, {1, 1, 0, 1}}}, stream(1));
  EXPECT_DOUBLE_EQ(difference.value, (2.0 - 1.0) / 8);
  EXPECT_EQ(difference.seeds, 2U);
  EXPECT_LE(difference.low, difference.value);
  EXPECT_GE(difference.high, difference.value);
}

TEST(Bootstrap, IsTheSameForTheSameStream) {
  const PairedOutcomes outcomes = make_runs(3, 500, 0.02, stream(1));
  const AccuracyDifference once = bootstrap_difference(outcomes, stream(2));
  const AccuracyDifference again = bootstrap_difference(outcomes, stream(2));
  const AccuracyDifference other = bootstrap_difference(outcomes, stream(3));
  EXPECT_EQ(once.low, again.low);
  EXPECT_EQ(once.high, again.high);
  EXPECT_NE(once.low, other.low);
}

TEST(Bootstrap, TurnsRoundWithTheMethods) {
  const PairedOutcomes outcomes = make_runs(3, 500, 0.1, stream(1));
  const AccuracyDifference there = bootstrap_difference(outcomes, stream(2));
  const AccuracyDifference back = bootstrap_difference({outcomes.second, outcomes.first}, stream(2));
  EXPECT_DOUBLE_EQ(there.value, -back.value);
  EXPECT_NEAR(there.low, -back.high, 1e-12);
  EXPECT_NEAR(there.high, -back.low, 1e-12);
}

TEST(Bootstrap, MethodsThatAgreeEverywhereDifferByNothing) {
  const Outcomes runs = make_runs(3, 100, 0, stream(1)).first;
  const AccuracyDifference difference = bootstrap_difference({runs, runs}, stream(1));
  EXPECT_EQ(difference.value, 0);
  EXPECT_EQ(difference.low, 0);
  EXPECT_EQ(difference.high, 0);
  EXPECT_FALSE(difference.beyond_chance());
}

TEST(Bootstrap, MethodsThatDifferOnEveryImageDifferByEverything) {
  const Outcomes right(2, std::vector<std::uint8_t>(50, 1)), wrong(2, std::vector<std::uint8_t>(50, 0));
  const AccuracyDifference difference = bootstrap_difference({wrong, right}, stream(1));
  EXPECT_EQ(difference.low, -1);
  EXPECT_EQ(difference.high, -1);
  EXPECT_TRUE(difference.beyond_chance());
}

TEST(Bootstrap, AnyByteButZeroIsRight) {
  EXPECT_EQ(bootstrap_difference({{{1, 255}}, {{7, 0}}}, stream(1)).value, 0.5);
}

TEST(Bootstrap, EqualMethodsRarelyLookDifferent) {
  // 5 % of 400 are 20; more than 41 or fewer than 4 come once in 100,000 times.
  int alarms = 0, alarms_by_image = 0, timid = 0;
  for (std::uint32_t i = 0; i < 400; ++i) {
    const PairedOutcomes runs = make_runs(3, 300, 0, stream(4, i));
    alarms += bootstrap_difference(runs, stream(5, i), {400, 0.95}).beyond_chance() ? 1 : 0;
    alarms_by_image += bootstrap_difference(repeat_first_seed(runs), stream(5, i), {400, 0.95}).beyond_chance() ? 1 : 0;
    const PairedOutcomes better = make_runs(3, 300, 0.1, stream(6, i));
    timid += bootstrap_difference(better, stream(7, i), {400, 0.95}).low > 0 ? 0 : 1;
  }
  EXPECT_LE(alarms, 41);
  EXPECT_LE(alarms_by_image, 41);
  EXPECT_GE(alarms_by_image, 4);
  // Ten points are more than four deviations of the difference, twice what the interval takes to each side.
  EXPECT_LE(timid, 100);
}

TEST(Bootstrap, SeedsThatDisagreeMakeItWide) {
  PairedOutcomes outcomes{Outcomes(4, std::vector<std::uint8_t>(1000, 0)),
                          Outcomes(4, std::vector<std::uint8_t>(1000, 0))};
  for (std::size_t image = 0; image < 1000; ++image) {
    outcomes.first[0][image] = outcomes.first[1][image] = image % 2 == 0 ? 1 : 0;
    outcomes.second[2][image] = image % 4 == 0 ? 1 : 0;
  }
  const AccuracyDifference all = bootstrap_difference(outcomes, stream(1));
  EXPECT_NEAR(all.value, (0.5 + 0.5 - 0.25) / 4, 1e-12);
  EXPECT_LT(all.low, 0);
  EXPECT_GT(all.high, 0.35);
  // One seed alone: images are all that varies, by 0.5 / sqrt(1000).
  outcomes.first.resize(1);
  const AccuracyDifference one = bootstrap_difference(outcomes, stream(1));
  EXPECT_EQ(one.seeds, 1U);
  EXPECT_NEAR(one.low, 0.5 - 1.96 * 0.0158, 0.005);
  EXPECT_NEAR(one.high, 0.5 + 1.96 * 0.0158, 0.005);
}

TEST(Bootstrap, SaysWhatCannotBeCompared) {
  const auto message = [](const PairedOutcomes& outcomes) {
    return user_error([&] { bootstrap_difference(outcomes, stream(1)); });
  };
  EXPECT_EQ(
      message({{{1, 0}}, {{1, 0, 1}}}),
      "seed 0 of the second method has outcomes of 3 images, and the first run of 2; compare runs on the same test "
      "images");
  EXPECT_EQ(
      message({{{1}, {1, 0}}, {{1}, {1}}}),
      "seed 1 of the first method has outcomes of 2 images, and the first run of 1; compare runs on the same test "
      "images");
  EXPECT_EQ(message({{}, {{1}}}), "the two methods have no seed in common; run both with the same seeds");
  EXPECT_EQ(message({{{}}, {{}}}), "there are no test images to compare the two methods on");
  EXPECT_THROW(bootstrap_difference({{{1}}, {{0}}}, stream(1), {0, 0.95}), std::invalid_argument);
}

TEST(Bootstrap, SeedsThatOnlyOneMethodHasDoNotCount) {
  const PairedOutcomes both = make_runs(2, 200, 0.1, stream(1));
  PairedOutcomes more = both;
  more.first.emplace_back();  // a run that was not evaluated
  const AccuracyDifference expected = bootstrap_difference(both, stream(2));
  const AccuracyDifference found = bootstrap_difference(more, stream(2));
  EXPECT_EQ(found.seeds, 2U);
  EXPECT_EQ(found.low, expected.low);
  EXPECT_EQ(found.high, expected.high);
}

}  // namespace
}  // namespace regroup
