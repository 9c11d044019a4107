#include "regroup/data/split.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "support/statistics.h"

namespace regroup {
namespace {

using Labels = std::vector<std::int32_t>;
using Positions = std::vector<std::uint32_t>;

Labels labels_of(const std::vector<int>& counts) {
  Labels labels;
  for (std::size_t y = 0; y < counts.size(); ++y)
    labels.insert(labels.end(), static_cast<std::size_t>(counts[y]), static_cast<int>(y));
  return labels;
}

std::vector<int> counts_of(const Labels& labels, const Positions& positions, std::size_t classes) {
  std::vector<int> counts(classes);
  for (const auto i : positions) ++counts[static_cast<std::size_t>(labels[i])];
  return counts;
}

TEST(SplitValidation, TakesTheLargestRemaindersFirst) {
  // Shares of 0.25: 2.75, 1.5, 0.75, 0; in all 5 of 20.
  const auto labels = labels_of({11, 6, 3, 0});
  const auto split = split_validation(labels, 4, 0.25, 1);
  EXPECT_EQ(counts_of(labels, split.validation, 4), (std::vector<int>{3, 1, 1, 0}));
}

TEST(SplitValidation, ALabelKeepsASampleForTraining) {
  const auto labels = labels_of({1, 1, 1, 2, 20});
  const auto split = split_validation(labels, 5, 0.8, 1);
  EXPECT_EQ(counts_of(labels, split.validation, 5), (std::vector<int>{0, 0, 0, 1, 19}));
}

TEST(SplitValidation, NothingOfNothingIsNothing) {
  const auto labels = labels_of({5, 5});
  EXPECT_TRUE(split_validation(labels, 2, 0, 1).validation.empty());
  EXPECT_EQ(split_validation(labels, 2, 0, 1).train.size(), 10U);
  EXPECT_TRUE(split_validation({}, 2, 0.5, 1).train.empty());
}

TEST(SplitValidation, TheSeedDecidesAndTheTestSplitIsAnotherOne) {
  const auto labels = labels_of({100, 100});
  const auto chosen = split_validation(labels, 2, 0.3, 1).validation;
  EXPECT_EQ(split_validation(labels, 2, 0.3, 1).validation, chosen);
  EXPECT_NE(split_validation(labels, 2, 0.3, 2).validation, chosen);
  EXPECT_NE(split_test(labels, 2, 0.3, 1).validation, chosen);
  EXPECT_EQ(split_test(labels, 2, 0.3, 1).validation.size(), chosen.size());
}

TEST(SplitValidation, EachChoiceIsEquallyLikely) {
  // Two of five: ten pairs, 4000 seeds. A fair split fails once in 100,000 choices of the seeds.
  const auto labels = labels_of({5, 1});
  std::vector<int> counts(25);
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const auto pair = split_validation(labels, 2, 1.0 / 3, seed).validation;
    ASSERT_EQ(pair.size(), 2U);
    ++counts[pair[0] * 5 + pair[1]];
  }
  std::vector<double> probabilities(25);
  for (std::size_t a = 0; a < 5; ++a) {
    for (std::size_t b = a + 1; b < 5; ++b) probabilities[a * 5 + b] = 0.1;
  }
  const auto result = testing::chi_square(counts, probabilities);
  EXPECT_EQ(result.degrees, 9U);
  EXPECT_LT(result.value, testing::chi_square_bound(result.degrees));
}

TEST(SplitValidation, WhatCannotBeIsRefused) {
  const auto labels = labels_of({5, 5});
  for (const double share : {-0.1, 1.0, std::nan("")})
    EXPECT_THROW(split_validation(labels, 2, share, 1), std::invalid_argument);
  EXPECT_THROW(split_validation(labels, 1, 0.5, 1), std::invalid_argument);
  EXPECT_THROW(split_validation(Labels{-1}, 1, 0.5, 1), std::invalid_argument);
}

RC_GTEST_PROP(SplitProperty, IsAFairPartition, ()) {
  const auto counts = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40)));
  const double share = *rc::gen::inRange(0, 50) / 100.0;
  auto labels = labels_of(counts);
  std::reverse(labels.begin(), labels.end());
  const auto split = split_validation(labels, static_cast<int>(counts.size()), share, 3);
  RC_ASSERT(std::is_sorted(split.train.begin(), split.train.end()));
  RC_ASSERT(std::is_sorted(split.validation.begin(), split.validation.end()));
  Positions all(labels.size()), merged;
  std::iota(all.begin(), all.end(), 0U);
  std::merge(split.train.begin(), split.train.end(), split.validation.begin(), split.validation.end(),
             std::back_inserter(merged));
  RC_ASSERT(merged == all);
  // Below a half, only classes of one sample get less than their share, so the others may get one or two more.
  const auto taken = counts_of(labels, split.validation, counts.size());
  const bool has_single = std::count(counts.begin(), counts.end(), 1) > 0;
  for (std::size_t y = 0; y < counts.size(); ++y) {
    const double exact = share * counts[y];
    RC_ASSERT(counts[y] == 0 || taken[y] < counts[y]);
    if (!has_single) RC_ASSERT(std::abs(taken[y] - exact) < 1 + 1e-9);
  }
  if (!has_single)
    RC_ASSERT(static_cast<long>(split.validation.size()) == std::lround(share * static_cast<double>(labels.size())));
}

TEST(StratifiedSubset, HasAFairPartOfEachLabel) {
  const auto labels = labels_of({50, 30, 20, 0});
  EXPECT_EQ(counts_of(labels, stratified_subset(labels, 4, 10, 1), 4), (std::vector<int>{5, 3, 2, 0}));
  EXPECT_NE(stratified_subset(labels, 4, 10, 1), stratified_subset(labels, 4, 10, 2));
  EXPECT_TRUE(stratified_subset(labels, 4, 0, 1).empty());
  EXPECT_EQ(stratified_subset(labels, 4, 100, 1).size(), 100U);
  EXPECT_EQ(stratified_subset(labels, 4, 1000, 1).size(), 100U);
}

TEST(StratifiedSubset, KeepsEveryLabelIfTheLimitAllowsIt) {
  const auto labels = labels_of({1000, 1, 1, 0, 1});
  EXPECT_EQ(counts_of(labels, stratified_subset(labels, 5, 4, 1), 5), (std::vector<int>{1, 1, 1, 0, 1}));
  EXPECT_EQ(counts_of(labels, stratified_subset(labels, 5, 10, 1), 5), (std::vector<int>{7, 1, 1, 0, 1}));
  EXPECT_EQ(counts_of(labels, stratified_subset(labels, 5, 3, 1), 5), (std::vector<int>{3, 0, 0, 0, 0}));
}

RC_GTEST_PROP(SubsetProperty, HasTheSizeAndEveryLabel, ()) {
  const auto counts = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40)));
  const auto labels = labels_of(counts);
  const auto limit = *rc::gen::inRange<std::size_t>(0, labels.size() + 2);
  const auto subset = stratified_subset(labels, static_cast<int>(counts.size()), limit, 5);
  RC_ASSERT(subset.size() == std::min(limit, labels.size()));
  RC_ASSERT(std::adjacent_find(subset.begin(), subset.end(), std::greater_equal<>()) == subset.end());
  const auto kept = counts_of(labels, subset, counts.size());
  if (limit >= counts.size()) {
    for (std::size_t y = 0; y < counts.size(); ++y) RC_ASSERT(counts[y] == 0 || kept[y] > 0);
  }
}

TEST(EpochSubset, IsAnotherOneInEachEpochAndForEachSeed) {
  const auto labels = labels_of({300, 200});
  for (const bool balanced : {false, true}) {
    const auto first = epoch_subset(labels, 2, 50, balanced, 1, 0);
    EXPECT_EQ(first.size(), 50U);
    EXPECT_EQ(epoch_subset(labels, 2, 50, balanced, 1, 0), first);
    EXPECT_NE(epoch_subset(labels, 2, 50, balanced, 1, 1), first);
    EXPECT_NE(epoch_subset(labels, 2, 50, balanced, 2, 0), first);
    EXPECT_EQ(epoch_subset(labels, 2, 9999, balanced, 1, 0).size(), 500U);
  }
  EXPECT_NE(epoch_subset(labels, 2, 50, true, 1, 0), stratified_subset(labels, 2, 50, 1));
}

TEST(EpochSubset, BalancedItHasAsManyOfEachLabelAsThereAre) {
  const auto labels = labels_of({100, 3, 0, 50, 40});
  // 3 of the rare label; the other 87 in three equal parts.
  EXPECT_EQ(counts_of(labels, epoch_subset(labels, 5, 90, true, 1, 4), 5), (std::vector<int>{29, 3, 0, 29, 29}));
  EXPECT_EQ(counts_of(labels, epoch_subset(labels, 5, 180, true, 1, 4), 5), (std::vector<int>{87, 3, 0, 50, 40}));
}

TEST(EpochSubset, WhichLabelHasOneMoreIsDrawnToo) {
  const auto labels = labels_of({100, 60, 80});
  std::vector<int> more(3);
  for (std::uint32_t epoch = 0; epoch < 3000; ++epoch) {
    const auto counts = counts_of(labels, epoch_subset(labels, 3, 10, true, 1, epoch), 3);
    for (std::size_t y = 0; y < 3; ++y) more[y] += counts[y] - 3;
  }
  const auto result = testing::chi_square(more, {1.0 / 3, 1.0 / 3, 1.0 / 3});
  EXPECT_LT(result.value, testing::chi_square_bound(result.degrees));
}

TEST(EpochSubset, EverySampleIsEquallyLikely) {
  const auto labels = labels_of({6, 2});
  std::vector<int> plain(8), balanced(8);
  for (std::uint32_t epoch = 0; epoch < 4000; ++epoch) {
    for (const auto i : epoch_subset(labels, 2, 2, false, 1, epoch)) ++plain[i];
    for (const auto i : epoch_subset(labels, 2, 2, true, 1, epoch)) ++balanced[i];
  }
  const auto even = testing::chi_square(plain, std::vector<double>(8, 1.0 / 8));
  EXPECT_LT(even.value, testing::chi_square_bound(even.degrees));
  std::vector<double> shares(8, 1.0 / 12);
  shares[6] = shares[7] = 1.0 / 4;
  const auto by_label = testing::chi_square(balanced, shares);
  EXPECT_LT(by_label.value, testing::chi_square_bound(by_label.degrees));
}

RC_GTEST_PROP(EpochSubsetProperty, IsAscendingAndAsEvenAsTheLabelsAllow, ()) {
  const auto counts = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40)));
  const auto labels = labels_of(counts);
  const auto count = *rc::gen::inRange<std::size_t>(0, labels.size() + 2);
  const auto subset = epoch_subset(labels, static_cast<int>(counts.size()), count, true, 5, 2);
  RC_ASSERT(subset.size() == std::min(count, labels.size()));
  RC_ASSERT(std::adjacent_find(subset.begin(), subset.end(), std::greater_equal<>()) == subset.end());
  const auto kept = counts_of(labels, subset, counts.size());
  // Who is not used up has as many as anybody, or one less.
  const int most = *std::max_element(kept.begin(), kept.end());
  for (std::size_t y = 0; y < counts.size(); ++y) RC_ASSERT(kept[y] == counts[y] || kept[y] >= most - 1);
}

}  // namespace
}  // namespace regroup
