// The draw against exact enumeration. Seeds are fixed; by chance a bound below would fail for one seed in 100,000.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "regroup/core/random.h"
#include "regroup/rml/class_sampler.h"
#include "support/statistics.h"

namespace regroup {
namespace {

using testing::chi_square;
using testing::chi_square_bound;

/// The probability of every set of samples under sequential draws without replacement, by the set's bits: what was
/// drawn last may be any member of it.
std::vector<double> set_probabilities(const std::vector<float>& losses, std::size_t count,
                                      const SelectionOptions& options) {
  const auto log_p = log_selection_probabilities(losses, options);
  const std::size_t sets = std::size_t{1} << losses.size();
  std::vector<double> probability(sets, 0);
  std::vector<double> left(sets, 0);  // the weight that is not in the set
  probability[0] = 1;
  for (std::size_t set = 0; set < sets; ++set) {
    for (std::size_t i = 0; i < losses.size(); ++i)
      if ((set >> i & 1) == 0) left[set] += std::exp(log_p[i]);
    if (static_cast<std::size_t>(std::popcount(set)) > count) continue;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      const std::size_t before = set & ~(std::size_t{1} << i);
      if (before != set) probability[set] += probability[before] * std::exp(log_p[i]) / left[before];
    }
  }
  for (std::size_t set = 0; set < sets; ++set)
    if (static_cast<std::size_t>(std::popcount(set)) != count) probability[set] = 0;
  return probability;
}

template <class Sampler>
std::vector<std::uint32_t> draw_once(const Sampler& sampler, std::uint32_t index, DrawScratch& scratch) {
  Stream stream(17, Purpose::selection, 0, index);
  sampler.draw(stream, scratch);
  return sampler.drawn(scratch);
}

template <class Sampler>
void expect_exact_sets(const Sampler& sampler, const std::vector<float>& losses, std::size_t count,
                       const SelectionOptions& options, int draws) {
  std::vector<int> counts(std::size_t{1} << losses.size());
  DrawScratch scratch;
  for (int i = 0; i < draws; ++i) {
    const auto draw = draw_once(sampler, static_cast<std::uint32_t>(i), scratch);
    ASSERT_EQ(draw.size(), count);
    std::size_t set = 0;
    for (const std::uint32_t position : draw) set |= std::size_t{1} << position;
    ++counts[set];
  }
  const auto probabilities = set_probabilities(losses, count, options);
  for (std::size_t set = 0; set < counts.size(); ++set) {
    if (probabilities[set] == 0) {
      ASSERT_EQ(counts[set], 0) << "an impossible set";
    }
  }
  const auto statistic = chi_square(counts, probabilities);
  EXPECT_GT(statistic.degrees, 5U);
  EXPECT_LT(statistic.value, chi_square_bound(statistic.degrees));
}

const std::vector<float> mixed_losses = {0.05F, 0.3F, 0.0F, 0.9F, 1.6F, 0.5F, 0.2F, 1.1F};

TEST(AliasSampler, DrawsEverySetWithItsExactProbability) {
  expect_exact_sets(AliasSampler(mixed_losses, 4, {}), mixed_losses, 4, {}, 60'000);
  const SelectionOptions plain{.epsilon = 1, .process_losses = false};
  expect_exact_sets(AliasSampler(mixed_losses, 2, plain), mixed_losses, 2, plain, 60'000);
}

TEST(RaceSampler, DrawsEverySetWithItsExactProbability) {
  for (const std::size_t count : {2, 4, 6})
    expect_exact_sets(RaceSampler(mixed_losses, count, {}), mixed_losses, count, {}, 60'000);
  const SelectionOptions strong{.epsilon = 2.5};
  expect_exact_sets(RaceSampler(mixed_losses, 4, strong), mixed_losses, 4, strong, 60'000);
}

TEST(RaceSampler, StaysExactHoweverItIsTuned) {
  // A stop that is too late makes too many arrive, one that is early leaves many to be drawn one by one, or, where few
  // tries are allowed, to race on.
  std::vector<float> losses;
  for (int i = 0; i < 12; ++i) losses.push_back(0.08F * static_cast<float>(i));
  for (const double margin : {-1.0, 0.0, 1.0, 3.3})
    for (const double tries : {0.0, 0.2, 100.0})
      expect_exact_sets(RaceSampler(losses, 6, {}, {margin, tries}), losses, 6, {}, 50'000);
}

TEST(RaceSampler, StaysExactWhereHeavySamplesAreLate) {
  // Ten of twelve are drawn, so most weights are large for the time of the stop.
  const SelectionOptions strong{.epsilon = 3};
  std::vector<float> losses;
  for (int i = 0; i < 12; ++i) losses.push_back(0.1F * static_cast<float>(i));
  for (const double margin : {-1.0, 0.0, 1.0})
    expect_exact_sets(RaceSampler(losses, 10, strong, {margin, 100.0}), losses, 10, strong, 100'000);
}

TEST(RaceSampler, StaysExactWhenWeightsAreFarApart) {
  // exp(-s) of the last six is below 1e-40 of the first two's, and four of them must be drawn.
  const std::vector<float> losses = {0, 0.1F, 10, 10.02F, 10.05F, 10.07F, 10.1F, 10.01F};
  expect_exact_sets(RaceSampler(losses, 6, {}), losses, 6, {}, 40'000);
}

/// Pairs from a class of 40 in which two samples hold `heavy` of the weight: exact probabilities for any pair.
void expect_exact_pairs(double heavy, DrawAlgorithm expected) {
  constexpr std::size_t samples = 40;
  const SelectionOptions plain{.process_losses = false};
  std::vector<float> losses(samples, 0);
  const double odds = heavy / (1 - heavy) * (samples - 2) / 2;
  for (std::size_t i = 2; i < samples; ++i) losses[i] = static_cast<float>(std::log(odds));
  const ClassSampler sampler(losses, 2, 1, plain);
  ASSERT_EQ(sampler.algorithm(), expected) << heavy;

  std::vector<double> p;
  for (const double log_p : log_selection_probabilities(losses, plain)) p.push_back(std::exp(log_p));
  std::vector<int> counts(samples * samples);
  std::vector<double> probabilities(samples * samples, 0);
  for (std::size_t a = 0; a < samples; ++a)
    for (std::size_t b = a + 1; b < samples; ++b)
      probabilities[a * samples + b] = p[a] * p[b] / (1 - p[a]) + p[b] * p[a] / (1 - p[b]);
  DrawScratch scratch;
  for (std::uint32_t i = 0; i < 60'000; ++i) {
    Stream stream(23, Purpose::selection, 0, i);
    const auto draw = sampler.draw(stream, scratch);
    const auto [low, high] = std::minmax(draw[0].position, draw[1].position);
    ++counts[low * samples + high];
  }
  const auto statistic = chi_square(counts, probabilities);
  EXPECT_LT(statistic.value, chi_square_bound(statistic.degrees)) << heavy;
}

TEST(ClassSampler, HandsOverFromAliasToRaceWithoutChangingTheOdds) {
  expect_exact_pairs(0.1, DrawAlgorithm::alias);
  expect_exact_pairs(0.72, DrawAlgorithm::alias);
  expect_exact_pairs(0.95, DrawAlgorithm::race);
  expect_exact_pairs(0.999, DrawAlgorithm::race);
}

TEST(ClassSampler, UsesTheAliasTableForFewOfMany) {
  EXPECT_EQ(ClassSampler(std::vector<float>(10'000, 1.0F), 6, 20, {}).algorithm(), DrawAlgorithm::alias);
  EXPECT_EQ(ClassSampler(std::vector<float>(500, 1.0F), 6, 20, {}).algorithm(), DrawAlgorithm::race);
}

TEST(Groups, EverySplitIsEquallyLikely) {
  // All splits of four drawn samples into two groups of two, whichever four are drawn.
  const std::vector<float> losses = {0, 0.2F, 0.1F, 0.4F, 0.6F};
  for (const auto algorithm : {DrawAlgorithm::alias, DrawAlgorithm::race}) {
    const ClassSampler sampler(losses, 2, 2, {}, algorithm);
    std::map<std::set<std::uint32_t>, std::map<std::string, int>> splits;
    DrawScratch scratch;
    for (std::uint32_t i = 0; i < 90'000; ++i) {
      Stream stream(17, Purpose::selection, 0, i);
      auto draw = sampler.draw(stream, scratch);
      std::sort(draw.begin(), draw.end(), [](const Drawn& a, const Drawn& b) { return a.position < b.position; });
      std::set<std::uint32_t> positions;
      std::string split;
      for (const Drawn& one : draw) {
        positions.insert(one.position);
        split += static_cast<char>('0' + one.group);
      }
      ++splits[positions][split];
    }
    EXPECT_EQ(splits.size(), 5U);
    for (const auto& [positions, counts] : splits) {
      ASSERT_EQ(counts.size(), 6U);
      std::vector<int> seen;
      for (const auto& [split, count] : counts) seen.push_back(count);
      const auto statistic = chi_square(seen, std::vector<double>(6, 1.0 / 6));
      EXPECT_LT(statistic.value, chi_square_bound(statistic.degrees));
    }
  }
}

TEST(Groups, EveryPairMeetsAsOftenAsItShould) {
  // 12 of 30 in 6 groups of 2: two drawn samples share a group with probability 1 / 11, whichever they are.
  std::vector<float> losses;
  for (int i = 0; i < 30; ++i) losses.push_back(0.02F * static_cast<float>(i));
  for (const auto algorithm : {DrawAlgorithm::alias, DrawAlgorithm::race}) {
    const ClassSampler sampler(losses, 6, 2, {}, algorithm);
    DrawScratch scratch;
    std::vector<int> together(30 * 30), both(30 * 30);
    for (std::uint32_t i = 0; i < 30'000; ++i) {
      Stream stream(17, Purpose::selection, 0, i);
      const auto draw = sampler.draw(stream, scratch);
      std::vector<int> sizes(6);
      for (const Drawn& a : draw) {
        ++sizes[a.group];
        for (const Drawn& b : draw) {
          if (a.position >= b.position) continue;
          ++both[a.position * 30 + b.position];
          together[a.position * 30 + b.position] += a.group == b.group;
        }
      }
      ASSERT_EQ(sizes, std::vector<int>(6, 2));
    }
    for (std::size_t pair = 0; pair < both.size(); ++pair) {
      if (both[pair] == 0) continue;
      const double expected = both[pair] / 11.0;
      EXPECT_NEAR(together[pair], expected, 5.5 * std::sqrt(expected * 10 / 11)) << pair / 30 << " and " << pair % 30;
    }
  }
}

TEST(RaceSampler, DrawsTheWholeClass) {
  const std::vector<float> losses = {0, 1e-30F, 3, 50, 1e30F, 2};
  DrawScratch scratch;
  for (std::uint32_t i = 0; i < 300; ++i) EXPECT_EQ(draw_once(RaceSampler(losses, 6, {}), i, scratch).size(), 6U);
}

TEST(RaceSampler, LeavesOutTheHopelessOne) {
  // 5,000 samples of which all but one are drawn: the loss of 60 is never in, since exp(-60 * 61) is nothing.
  std::vector<float> losses(5000, 0.5F);
  losses[1234] = 60;
  losses[77] = 0;
  losses.pop_back();
  const RaceSampler sampler(losses, 4998, {});
  DrawScratch scratch;
  for (std::uint32_t i = 0; i < 50; ++i)
    for (const std::uint32_t position : draw_once(sampler, i, scratch)) ASSERT_NE(position, 1234U);
}

TEST(ClassSampler, MeansAreThoseOfTheDrawnLosses) {
  Stream make(5, Purpose::synthetic);
  std::vector<float> losses(700);
  for (float& loss : losses) loss = static_cast<float>(-2 * std::log(1 - make.uniform()));
  for (const auto algorithm : {DrawAlgorithm::alias, DrawAlgorithm::race}) {
    const ClassSampler sampler(losses, 6, 20, {}, algorithm);
    DrawScratch scratch;
    for (std::uint32_t i = 0; i < 200; ++i) {
      Stream first(9, Purpose::selection, 0, i), second = first;
      std::vector<double> means(6), slow(6, 0);
      sampler.draw_means(first, scratch, means);
      for (const Drawn& one : sampler.draw(second, scratch)) slow[one.group] += losses[one.position] / 20.0;
      for (std::size_t group = 0; group < 6; ++group) EXPECT_NEAR(means[group], slow[group], 1e-6 * slow[group]);
    }
  }
}

}  // namespace
}  // namespace regroup
