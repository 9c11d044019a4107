#include "regroup/rml/regroup_median.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "regroup/core/error.h"
#include "regroup/rml/loss_book.h"

namespace regroup {
namespace {

RegroupOptions options_with(DrawSize draw, int groups = 6) {
  RegroupOptions options;
  options.groups = groups;
  options.draw = draw;
  options.seed = 3;
  return options;
}

struct Sample {
  std::vector<std::int32_t> labels;
  std::vector<float> losses;
};

/// Clean losses near 0, noisy ones around 4.
Sample half_noisy(std::size_t samples, int classes, std::uint64_t seed = 1) {
  Sample made;
  Stream stream(seed, Purpose::synthetic);
  for (std::size_t i = 0; i < samples; ++i) {
    made.labels.push_back(static_cast<std::int32_t>(stream.below(static_cast<std::uint32_t>(classes))));
    const double loss = stream.uniform() < 0.5 ? -0.4 * std::log(1 - stream.uniform()) : std::abs(4 + stream.normal());
    made.losses.push_back(static_cast<float>(loss));
  }
  return made;
}

std::vector<float> weights_of(const Sample& sample, int classes, const RegroupOptions& options, int threads = 1,
                              std::uint32_t epoch = 1) {
  std::vector<float> weights(sample.losses.size());
  RegroupMedian(ClassIndex(sample.labels, classes), options, threads).weights(sample.losses, epoch, weights);
  return weights;
}

std::vector<float> estimates_of(const Sample& sample, int classes, const RegroupOptions& options,
                                std::uint32_t epoch = 1) {
  std::vector<float> estimates(sample.losses.size());
  RegroupMedian(ClassIndex(sample.labels, classes), options).estimates(sample.losses, epoch, estimates);
  return estimates;
}

/// Steps 2 to 5 again, as plainly as they can be written, with the standard library's generator.
double slow_estimate(const std::vector<float>& class_losses, float own, int groups, int per_group,
                     std::mt19937& random) {
  std::vector<double> weights;
  for (const float loss : class_losses) weights.push_back(std::exp(-static_cast<double>(loss) * (loss + 1.0)));
  std::vector<float> drawn;
  while (drawn.size() < static_cast<std::size_t>(groups * per_group)) {
    const std::size_t i = std::discrete_distribution<std::size_t>(weights.begin(), weights.end())(random);
    drawn.push_back(class_losses[i]);
    weights[i] = 0;
  }
  std::shuffle(drawn.begin(), drawn.end(), random);
  std::vector<double> values = {own};
  for (int group = 0; group < groups; ++group) {
    double sum = 0;
    for (int i = 0; i < per_group; ++i) sum += drawn[static_cast<std::size_t>(group * per_group + i)];
    values.push_back(sum / per_group);
  }
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

TEST(RegroupMedian, HasTheDistributionOfASlowSecondImplementation) {
  Sample sample = half_noisy(40, 1);
  std::mt19937 random(1);
  for (const std::size_t own : {0U, 1U, 2U, 3U}) {
    std::vector<double> fast, slow;
    RegroupMedian rml(ClassIndex(sample.labels, 1), options_with(DrawSize::per_group(2)));
    const std::vector<std::uint32_t> which = {static_cast<std::uint32_t>(own)};
    std::vector<float> all(40);
    for (std::uint32_t epoch = 0; epoch < 2000; ++epoch) {
      rml.estimates(sample.losses, epoch, all);
      fast.push_back(all[own]);
      slow.push_back(slow_estimate(sample.losses, sample.losses[own], 6, 2, random));
    }
    // Kolmogorov and Smirnov's distance of two samples; by chance above this bound once in 100,000 times.
    std::sort(fast.begin(), fast.end());
    std::sort(slow.begin(), slow.end());
    double distance = 0;
    for (const double value : fast) {
      const auto below = [&](const std::vector<double>& v) {
        return static_cast<double>(std::upper_bound(v.begin(), v.end(), value + 1e-6) - v.begin()) / 2000;
      };
      distance = std::max(distance, std::abs(below(fast) - below(slow)));
    }
    EXPECT_LT(distance, 2.47 * std::sqrt(2.0 / 2000));
  }
}

TEST(RegroupMedian, IsTheMedianOfTheGroupMeansAndTheOwnLoss) {
  const Sample sample = half_noisy(600, 2);
  const ClassIndex classes(sample.labels, 2);
  const auto options = options_with(DrawSize::per_group(15));
  const auto estimates = estimates_of(sample, 2, options, 9);
  DrawScratch scratch;
  for (std::int32_t y = 0; y < 2; ++y) {
    std::vector<float> losses;
    for (const std::uint32_t i : classes.members(y)) losses.push_back(sample.losses[i]);
    const ClassSampler sampler(losses, 6, 15, {});
    for (const std::uint32_t i : classes.members(y)) {
      Stream stream(options.seed, Purpose::selection, 9, i);
      std::vector<double> values(6, 0);
      for (const Drawn& one : sampler.draw(stream, scratch)) values[one.group] += losses[one.position] / 15.0;
      values.push_back(sample.losses[i]);
      std::sort(values.begin(), values.end());
      ASSERT_NEAR(estimates[i], values[3], 1e-5 * (1e-3 + values[3])) << i;
    }
  }
}

TEST(RegroupMedian, WeightsAreTheCappedRatioOfEstimateAndLoss) {
  const Sample sample = half_noisy(500, 3);
  const auto options = options_with(DrawSize::per_group(10));
  const auto estimates = estimates_of(sample, 3, options);
  const auto weights = weights_of(sample, 3, options);
  for (std::size_t i = 0; i < weights.size(); ++i)
    EXPECT_NEAR(weights[i], std::min(1.0F, estimates[i] / sample.losses[i]), 1e-5) << i;
}

TEST(RegroupMedian, LowersTheWeightOfNoisySamplesOnly) {
  const Sample sample = half_noisy(5000, 1);
  const auto weights = weights_of(sample, 1, options_with(DrawSize::per_group(200)));
  double clean = 0, noisy = 0;
  int cleans = 0, noisies = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const bool is_noisy = sample.losses[i] > 2;
    (is_noisy ? noisy : clean) += weights[i];
    ++(is_noisy ? noisies : cleans);
  }
  EXPECT_GT(clean / cleans, 0.7);
  EXPECT_LT(noisy / noisies, 0.15);
}

TEST(RegroupMedian, IsTheSameOnAnyNumberOfThreads) {
  const Sample sample = half_noisy(4000, 7);
  for (const auto& draw : {DrawSize::per_group(30), DrawSize::share(0.02), DrawSize::automatic()}) {
    const auto one = weights_of(sample, 7, options_with(draw), 1);
    EXPECT_EQ(one, weights_of(sample, 7, options_with(draw), 2));
    EXPECT_EQ(one, weights_of(sample, 7, options_with(draw), 7));
  }
}

TEST(RegroupMedian, DrawsAnewEachEpochAndForEachSeed) {
  const Sample sample = half_noisy(1000, 1);
  auto options = options_with(DrawSize::per_group(10));
  const auto first = estimates_of(sample, 1, options, 1);
  EXPECT_NE(first, estimates_of(sample, 1, options, 2));
  options.seed = 4;
  EXPECT_NE(first, estimates_of(sample, 1, options, 1));
}

TEST(RegroupMedian, GivesAPartOfTheSamplesWhatItGivesThemAmongAll) {
  const Sample sample = half_noisy(900, 4);
  const auto options = options_with(DrawSize::per_group(10));
  const auto all = weights_of(sample, 4, options);
  const std::vector<std::uint32_t> some = {899, 3, 3, 500};
  std::vector<float> part(some.size());
  RegroupMedian rml(ClassIndex(sample.labels, 4), options);
  rml.weights(sample.losses, 1, some, part);
  for (std::size_t i = 0; i < some.size(); ++i) EXPECT_EQ(part[i], all[some[i]]);
  EXPECT_THROW(rml.weights(sample.losses, 1, std::vector<std::uint32_t>{900}, std::span(part).first(1)),
               std::out_of_range);
}

TEST(RegroupMedian, WithoutMedianIsTheMeanOfAllSelected) {
  // Everything is selected, so the mean is that of the class.
  const Sample sample{std::vector<std::int32_t>(6, 0), {0, 1, 2, 3, 4, 5}};
  auto options = options_with(DrawSize::per_group(3), 2);
  options.centre = Centre::mean;
  for (const float estimate : estimates_of(sample, 1, options)) EXPECT_FLOAT_EQ(estimate, 2.5F);
}

TEST(RegroupMedian, MayBeTheMeanOfTheGroupsMedians) {
  const Sample sample = half_noisy(600, 2);
  const ClassIndex classes(sample.labels, 2);
  for (const int per_group : {1, 2, 15, 20}) {
    auto options = options_with(DrawSize::per_group(per_group));
    options.centre = Centre::mean_of_medians;
    const auto estimates = estimates_of(sample, 2, options, 9);
    DrawScratch scratch;
    for (const std::uint32_t i : classes.members(1)) {
      std::vector<float> losses;
      for (const std::uint32_t j : classes.members(1)) losses.push_back(sample.losses[j]);
      Stream stream(options.seed, Purpose::selection, 9, i);
      std::vector<std::vector<double>> groups(6);
      for (const Drawn& one : ClassSampler(losses, 6, per_group, {}).draw(stream, scratch))
        groups[one.group].push_back(static_cast<double>(losses[one.position]));
      double sum = 0;
      for (auto& group : groups) {
        std::sort(group.begin(), group.end());
        sum += (group[(group.size() - 1) / 2] + group[group.size() / 2]) / 2;
      }
      ASSERT_NEAR(estimates[i], sum / 6, 1e-6) << i << ' ' << per_group;
    }
  }
}

TEST(RegroupMedian, WithoutLossProcessingSelectsLargerLosses) {
  const Sample sample = half_noisy(2000, 1);
  auto options = options_with(DrawSize::per_group(50));
  options.centre = Centre::mean;
  const auto mean = [](const std::vector<float>& v) { return std::accumulate(v.begin(), v.end(), 0.0) / 2000; };
  const double processed = mean(estimates_of(sample, 1, options));
  options.selection.process_losses = false;
  EXPECT_GT(mean(estimates_of(sample, 1, options)), processed + 0.02);
}

TEST(RegroupMedian, ASmallClassUsesWhatItHas) {
  // 13 samples for 6 groups: k is 2. Five samples: nothing to draw. None: nothing to do.
  Sample sample;
  sample.labels.assign(13, 0);
  sample.labels.insert(sample.labels.end(), 5, 1);
  for (std::size_t i = 0; i < 18; ++i) sample.losses.push_back(0.1F * static_cast<float>(i + 1));
  std::vector<float> weights(18);
  RegroupMedian rml(ClassIndex(sample.labels, 4), options_with(DrawSize::per_group(200)));
  const RegroupReport report = rml.weights(sample.losses, 1, weights);
  EXPECT_EQ(report.per_group, (std::vector<int>{2, 0, 0, 0}));
  for (std::size_t i = 13; i < 18; ++i) EXPECT_EQ(weights[i], 1);
  EXPECT_LT(weights[12], 1);
}

TEST(RegroupMedian, AShareIsOfTheClass) {
  const Sample sample = half_noisy(1000, 1);
  std::vector<float> weights(1000);
  const auto per_group = [&](double share) {
    RegroupMedian rml(ClassIndex(sample.labels, 1), options_with(DrawSize::share(share)));
    return rml.weights(sample.losses, 1, weights).per_group.front();
  };
  EXPECT_EQ(per_group(0.75), 125);
  EXPECT_EQ(per_group(1), 166);
  EXPECT_EQ(per_group(1e-9), 1);
}

TEST(RegroupMedian, TakesExtremeLosses) {
  constexpr float denormal = std::numeric_limits<float>::denorm_min();
  constexpr float huge = std::numeric_limits<float>::max();
  const std::vector<std::vector<float>> odd = {std::vector<float>(50, 0),
                                               std::vector<float>(50, denormal),
                                               std::vector<float>(50, huge),
                                               std::vector<float>(50, 1),
                                               {0, denormal, 1e-20F, 1, 100, 1e10F, 1e30F, huge},
                                               {huge, huge, huge, huge, huge, 0}};
  for (const auto& losses : odd) {
    const Sample sample{std::vector<std::int32_t>(losses.size(), 0), losses};
    for (const int per_group : {1, 3, 1000}) {
      for (const auto algorithm : {DrawAlgorithm::automatic, DrawAlgorithm::race}) {
        auto options = options_with(DrawSize::per_group(per_group), 2);
        options.algorithm = algorithm;
        const auto estimates = estimates_of(sample, 1, options);
        const auto weights = weights_of(sample, 1, options);
        for (std::size_t i = 0; i < losses.size(); ++i) {
          EXPECT_TRUE(std::isfinite(estimates[i]) && estimates[i] >= 0) << estimates[i];
          EXPECT_TRUE(weights[i] >= 0 && weights[i] <= 1) << weights[i];
          if (losses[i] == 0) {
            EXPECT_EQ(weights[i], 1);
          }
        }
      }
    }
  }
  const Sample equal{std::vector<std::int32_t>(50, 0), std::vector<float>(50, huge)};
  for (const float weight : weights_of(equal, 1, options_with(DrawSize::per_group(4)))) EXPECT_EQ(weight, 1);
}

TEST(RegroupMedian, FindsTheOneCleanSampleAmongThousandsOfNoisyOnes) {
  Sample sample;
  sample.labels.assign(5000, 0);
  Stream stream(8, Purpose::synthetic);
  for (int i = 0; i < 5000; ++i) sample.losses.push_back(static_cast<float>(8 + stream.uniform()));
  sample.losses[42] = 0.01F;
  for (const int per_group : {1, 200}) {
    const auto weights = weights_of(sample, 1, options_with(DrawSize::per_group(per_group)));
    EXPECT_EQ(weights[42], 1);
    EXPECT_GT(*std::min_element(weights.begin(), weights.end()), 0);
  }
}

TEST(RegroupMedian, NamesTheSampleWhoseLossIsNotFinite) {
  Sample sample = half_noisy(100, 2);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -2.0F}) {
    sample.losses[61] = bad;
    try {
      weights_of(sample, 2, options_with(DrawSize::per_group(3)));
      FAIL() << bad;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("sample 61"), std::string::npos) << error.what();
    }
  }
}

TEST(RegroupMedian, ASampleWithoutALossIsNotDrawnAndKeepsItsWeight) {
  Sample sample{std::vector<std::int32_t>(20, 0), std::vector<float>(20, 2)};
  for (std::size_t i = 0; i < 8; ++i) sample.losses[i] = LossBook::unrecorded;
  std::vector<float> weights(20), estimates(20);
  RegroupMedian rml(ClassIndex(sample.labels, 1), options_with(DrawSize::per_group(100)));
  EXPECT_EQ(rml.weights(sample.losses, 1, weights).per_group.front(), 2);
  EXPECT_EQ(weights, std::vector<float>(20, 1));
  rml.estimates(sample.losses, 1, estimates);
  EXPECT_EQ(estimates[19], 2);
}

TEST(RegroupMedian, RefusesOptionsOutOfBounds) {
  const ClassIndex classes(std::vector<std::int32_t>{0}, 1);
  const auto refused = [&](auto change) {
    RegroupOptions options;
    change(options);
    EXPECT_THROW(RegroupMedian(classes, options), UserError);
  };
  refused([](auto& o) { o.groups = 5; });
  refused([](auto& o) { o.groups = 0; });
  refused([](auto& o) { o.groups = 130; });
  refused([](auto& o) { o.draw = DrawSize::per_group(0); });
  refused([](auto& o) { o.draw = DrawSize::share(0); });
  refused([](auto& o) { o.draw = DrawSize::share(1.1); });
  refused([](auto& o) { o.draw = DrawSize::share(std::nan("")); });
  refused([](auto& o) { o.selection.epsilon = -1; });
  refused([](auto& o) { o.selection.epsilon = std::nan(""); });
}

}  // namespace
}  // namespace regroup
