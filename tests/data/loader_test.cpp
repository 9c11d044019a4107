#include "regroup/data/loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "data/made_images.h"
#include "support/statistics.h"
#include "support/user_error.h"

namespace regroup {
namespace {

const Augmentation augmentation{2, Padding::reflect, Flip::random}, strong{3, Padding::zero, Flip::alternate};

/// Images, what writes them, and their slots, which are in another order.
struct Source {
  explicit Source(std::size_t count, std::uint64_t seed = 3)
      : images(random_images(count, {3, 4, 5})),
        augmenter(images, {{0.5F, 0.4F, 0.3F}, {0.2F, 0.2F, 0.2F}}, PixelType::bfloat16, seed),
        positions(count) {
    std::iota(positions.rbegin(), positions.rend(), 0U);
  }

  ImagesInMemory images;
  Augmenter augmenter;
  std::vector<std::uint32_t> positions;
};

BatchPlan plan_of(std::uint32_t count, int batch_size) {
  BatchPlan plan;
  plan.slots.resize(count);
  std::iota(plan.slots.begin(), plan.slots.end(), 0U);
  plan.batch_size = batch_size;
  plan.views = {augmentation};
  plan.seed = 17;
  return plan;
}

std::vector<Batch> all_of(Loader& loader) {
  std::vector<Batch> batches;
  while (const Batch* batch = loader.next()) batches.push_back(*batch);
  return batches;
}

std::vector<Batch> load(const Source& source, const BatchPlan& plan, std::size_t first, std::size_t end,
                        int workers = 1, int ahead = 3) {
  Loader loader(source.augmenter, source.positions, plan, first, end, workers, ahead);
  return all_of(loader);
}

Workers helpers(std::size_t count) {
  return {count, [](std::size_t tasks, const std::function<void(std::size_t)>& body) {
            std::vector<std::jthread> threads;
            for (std::size_t task = 0; task < tasks; ++task) threads.emplace_back(body, task);
          }};
}

std::vector<std::uint32_t> slots_of(const std::vector<Batch>& batches) {
  std::vector<std::uint32_t> samples;
  for (const auto& batch : batches) samples.insert(samples.end(), batch.slots.begin(), batch.slots.end());
  return samples;
}

void expect_same(const std::vector<Batch>& some, const std::vector<Batch>& others) {
  ASSERT_EQ(some.size(), others.size());
  for (std::size_t i = 0; i < some.size(); ++i) {
    EXPECT_EQ(some[i].slots, others[i].slots) << "batch " << i;
    EXPECT_TRUE(some[i].views == others[i].views) << "batch " << i;
  }
}

std::vector<std::uint32_t> sorted(std::vector<std::uint32_t> samples) {
  std::sort(samples.begin(), samples.end());
  return samples;
}

TEST(LoaderThreads, ImagesAreThoseOfTheAugmenter) {
  const Source source(50);
  BatchPlan plan = plan_of(50, 20);
  plan.views = {augmentation, strong};
  plan.epoch = 4;
  const std::size_t bytes = source.augmenter.output_bytes();
  std::vector<std::vector<std::byte>> expected(2, std::vector<std::byte>(bytes));
  const std::vector<std::byte*> out{expected[0].data(), expected[1].data()};
  Augmenter::Scratch scratch;
  for (const auto& batch : load(source, plan, 0, 2)) {
    ASSERT_EQ(batch.views.size(), 2U);
    for (std::size_t i = 0; i < 20; ++i) {
      source.augmenter.write(source.positions[batch.slots[i]], 4, plan.views, out, scratch);
      for (std::size_t view = 0; view < 2; ++view) {
        ASSERT_EQ(batch.views[view].size(), 20 * bytes);
        const auto begin = batch.views[view].begin() + static_cast<std::ptrdiff_t>(i * bytes);
        EXPECT_TRUE(std::equal(expected[view].begin(), expected[view].end(), begin)) << view << ", image " << i;
      }
    }
  }
}

TEST(LoaderThreads, WhatIsRandomAboutAnImageIsItsOwnAndNotItsSlots) {
  const Source source(50);
  BatchPlan plan = plan_of(3, 3);
  plan.shuffle = false;
  const std::vector<std::uint32_t> few{7, 8, 9}, turned{9, 8, 7};
  Loader one(source.augmenter, few, plan, 0, 1), other(source.augmenter, turned, plan, 0, 1);
  const auto& some = one.next()->views[0];
  const auto& same = other.next()->views[0];
  const auto bytes = static_cast<std::ptrdiff_t>(source.augmenter.output_bytes());
  for (std::ptrdiff_t i = 0; i < 3; ++i)
    EXPECT_TRUE(std::equal(some.begin() + i * bytes, some.begin() + (i + 1) * bytes, same.begin() + (2 - i) * bytes));
}

TEST(LoaderThreads, ASampleHasAnotherViewInEachOfItsTurnsAndInEachPlan) {
  const Source source(50);
  const std::size_t bytes = source.augmenter.output_bytes();
  // Views of 50 samples by slot: those of round 0, of round 1, and of another plan.
  BatchPlan plan = plan_of(50, 50);
  std::vector<Batch> batches = load(source, plan, 0, 2);
  plan.stream = 1;
  batches.push_back(load(source, plan, 0, 1).front());
  std::vector<std::vector<std::byte>> views(3, std::vector<std::byte>(50 * bytes));
  for (std::size_t b = 0; b < 3; ++b)
    for (std::size_t i = 0; i < 50; ++i)
      std::copy_n(batches[b].views[0].begin() + static_cast<std::ptrdiff_t>(i * bytes), bytes,
                  views[b].begin() + static_cast<std::ptrdiff_t>(batches[b].slots[i] * bytes));
  const auto same = [&](std::size_t a, std::size_t b) {
    int count = 0;
    for (std::size_t slot = 0; slot < 50; ++slot)
      count += std::equal(&views[a][slot * bytes], &views[a][slot * bytes] + bytes, &views[b][slot * bytes]) ? 1 : 0;
    return count;
  };
  // There are 5 x 5 x 2 views of an image: by chance one of the 50 is the same, ten hardly ever.
  EXPECT_LT(same(0, 1), 10);
  EXPECT_LT(same(0, 2), 10);
  EXPECT_LT(same(1, 2), 10);
}

TEST(LoaderThreads, BatchesDoNotDependOnTheNumberOfWorkers) {
  const Source source(100);
  BatchPlan plan = plan_of(100, 19);
  plan.views = {augmentation, strong};
  for (const bool shuffle : {true, false}) {
    plan.shuffle = shuffle;
    const std::size_t end = shuffle ? 23 : plan.batches();
    const auto expected = load(source, plan, 0, end);
    EXPECT_EQ(expected.size(), end);
    for (const int workers : {2, 5})
      for (const int ahead : {1, 4}) expect_same(load(source, plan, 0, end, workers, ahead), expected);
  }
}

TEST(LoaderThreads, HelpersPrepareTheSameBatches) {
  const Source source(100);
  BatchPlan plan = plan_of(100, 19);
  plan.views = {augmentation, strong};
  for (const std::size_t count : {1U, 3U}) {
    Loader loader(source.augmenter, source.positions, plan, 2, 23, helpers(count));
    expect_same(all_of(loader), load(source, plan, 2, 23));
    EXPECT_EQ(loader.waited(), 0);
  }
}

TEST(LoaderThreads, HelpersMistakesComeOutInTheirPlace) {
  const Source source(30);
  BatchPlan plan = plan_of(60, 10);  // 30 .. 59 do not exist
  plan.shuffle = false;
  Loader loader(source.augmenter, source.positions, plan, 2, 6, helpers(2));
  EXPECT_EQ(loader.next()->slots.front(), 20U);
  EXPECT_THROW(loader.next(), std::out_of_range);
  EXPECT_THROW(loader.next(), std::out_of_range);
}

TEST(LoaderThreads, StartingInTheMiddleGivesTheSameBatches) {
  const Source source(40);
  for (const int batch_size : {7, 64}) {
    const BatchPlan plan = plan_of(40, batch_size);
    const auto all = load(source, plan, 0, 14, 2);
    for (const std::size_t first : {1U, 5U, 6U, 13U, 14U})
      expect_same(load(source, plan, first, 14, 2),
                  std::vector<Batch>(all.begin() + static_cast<std::ptrdiff_t>(first), all.end()));
  }
}

TEST(LoaderThreads, AWindowHasBlocksFromManyPlacesInRandomOrder) {
  const Source source(960);
  BatchPlan plan = plan_of(960, 20);
  plan.window = 320;  // 32 blocks of 10 samples
  const auto order = slots_of(load(source, plan, 0, 48));
  EXPECT_EQ(sorted(order), sorted(plan.slots));
  for (std::size_t begin = 0; begin < order.size(); begin += plan.window) {
    const std::span window(order.data() + begin, plan.window);
    std::set<std::uint32_t> blocks;
    for (const std::uint32_t sample : window) blocks.insert(sample / 10);
    EXPECT_EQ(blocks.size(), 32U) << "whole blocks";
    EXPECT_GT(*blocks.rbegin() - *blocks.begin(), 60U) << "from all over";
    std::size_t steps = 0;
    for (std::size_t i = 1; i < window.size(); ++i) steps += window[i] == window[i - 1] + 1 ? 1 : 0;
    EXPECT_LT(steps, 10U) << "shuffled within";
  }
  plan.epoch = 1;
  EXPECT_NE(slots_of(load(source, plan, 0, 48)), order);
  plan.epoch = 0;
  expect_same(load(source, plan, 21, 30), load(source, plan, 21, 30, 3));
}

TEST(LoaderThreads, EverySampleHasItsTurnOnceUntilTheNextOrder) {
  const Source source(24);
  BatchPlan plan = plan_of(24, 6);
  plan.slots = {23, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  EXPECT_EQ(plan.batches(), 2U);
  const auto first = slots_of(load(source, plan, 0, 2));
  const auto second = slots_of(load(source, plan, 2, 4));
  EXPECT_EQ(sorted(first), sorted(plan.slots));
  EXPECT_EQ(sorted(second), sorted(plan.slots));
  EXPECT_NE(first, second);
}

TEST(LoaderThreads, ShuffledBatchesAreWholeAndLeaveOutAChangingRest) {
  const Source source(23);
  const BatchPlan plan = plan_of(23, 5);
  EXPECT_EQ(plan.batches(), 4U);
  std::set<std::uint32_t> seen;
  for (std::size_t order = 0; order < 10; ++order) {
    const auto samples = slots_of(load(source, plan, 4 * order, 4 * order + 4));
    EXPECT_EQ(samples.size(), 20U);
    EXPECT_EQ(std::set(samples.begin(), samples.end()).size(), 20U);
    seen.insert(samples.begin(), samples.end());
  }
  EXPECT_EQ(seen.size(), 23U);
}

TEST(LoaderThreads, SeedEpochAndStreamGiveOtherOrders) {
  const Source source(30);
  BatchPlan plan = plan_of(30, 30);
  std::set<std::vector<std::uint32_t>> orders = {slots_of(load(source, plan, 0, 1)),
                                                 slots_of(load(source, plan, 1, 2))};
  plan.stream = 1;
  orders.insert(slots_of(load(source, plan, 0, 1)));
  plan.stream = 0;
  plan.epoch = 1;
  orders.insert(slots_of(load(source, plan, 0, 1)));
  plan.epoch = 0;
  plan.seed = 18;
  orders.insert(slots_of(load(source, plan, 0, 1)));
  EXPECT_EQ(orders.size(), 5U);
}

// At a fixed seed; the bound would be crossed by chance once in 100,000 seeds.
TEST(LoaderThreads, EveryOrderIsEquallyLikely) {
  const Source source(4);
  std::map<std::vector<std::uint32_t>, int> seen;
  for (const auto& batch : load(source, plan_of(4, 4), 0, 2400)) ++seen[batch.slots];
  std::vector<int> counts;
  counts.reserve(24);
  for (const auto& [order, count] : seen) counts.push_back(count);
  ASSERT_EQ(counts.size(), 24U);
  const auto statistic = testing::chi_square(counts, std::vector<double>(24, 1.0 / 24));
  EXPECT_LT(statistic.value, testing::chi_square_bound(statistic.degrees));
}

TEST(LoaderThreads, WithoutShufflingSamplesComeOnceInTheirOrder) {
  const Source source(10);
  BatchPlan plan = plan_of(10, 4);
  plan.slots = {9, 3, 4, 0, 7};
  plan.shuffle = false;
  EXPECT_EQ(plan.batches(), 2U);
  const auto batches = load(source, plan, 0, 2);
  EXPECT_EQ(slots_of(batches), plan.slots);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[1].slots.size(), 1U);
  EXPECT_EQ(batches[1].views.at(0).size(), source.augmenter.output_bytes());
  EXPECT_THROW(load(source, plan, 0, 3), std::invalid_argument);
}

TEST(LoaderThreads, ASetSmallerThanABatchFillsItOrderByOrder) {
  const Source source(3);
  const BatchPlan plan = plan_of(3, 8);
  EXPECT_EQ(plan.batches(), 1U);
  const auto batches = load(source, plan, 0, 3, 2);
  for (const auto& batch : batches) EXPECT_EQ(batch.slots.size(), 8U);
  const auto samples = slots_of(batches);
  for (auto order = samples.begin(); order != samples.end(); order += 3)
    EXPECT_EQ(sorted({order, order + 3}), plan.slots);
}

TEST(LoaderThreads, AWholeNumberOfBatchesIsOneOrder) {
  EXPECT_EQ(plan_of(10, 5).batches(), 2U);
  EXPECT_EQ(plan_of(10, 10).batches(), 1U);
  EXPECT_EQ(plan_of(0, 10).batches(), 0U);
}

TEST(LoaderThreads, StopInTheMiddle) {
  const Source source(100);
  BatchPlan plan = plan_of(100, 32);
  for (const int workers : {1, 2, 5})
    for (const int taken : {0, 1, 5}) {
      Loader loader(source.augmenter, source.positions, plan, 0, 10'000'000, workers, 2);
      for (int i = 0; i < taken; ++i) ASSERT_NE(loader.next(), nullptr);
    }
}

TEST(LoaderThreads, AMistakeComesOutInThePlaceOfItsBatch) {
  const Source source(30);
  BatchPlan plan = plan_of(60, 10);  // 30 .. 59 do not exist
  plan.shuffle = false;
  for (const int workers : {1, 2, 5}) {
    Loader loader(source.augmenter, source.positions, plan, 0, 6, workers);
    for (std::uint32_t batch = 0; batch < 3; ++batch) {
      const Batch* const next = loader.next();
      ASSERT_NE(next, nullptr);
      EXPECT_EQ(next->slots.front(), 10 * batch);
    }
    EXPECT_THROW(loader.next(), std::out_of_range);
    EXPECT_THROW(loader.next(), std::out_of_range);
  }
}

TEST(LoaderThreads, AMistakeDoesNotOvertakeTheBatchesBeforeIt) {
  const Source source(1);
  BatchPlan plan = plan_of(2, 1);  // slot 1 does not exist
  plan.shuffle = false;
  plan.views.assign(2000, augmentation);  // so that the second batch has failed long before the first one is ready
  Loader loader(source.augmenter, source.positions, plan, 0, 2, 2);
  EXPECT_NE(loader.next(), nullptr);
  EXPECT_THROW(loader.next(), std::out_of_range);
}

TEST(LoaderThreads, MemoryIsUsedAgain) {
  const Source source(100);
  Loader loader(source.augmenter, source.positions, plan_of(100, 10), 0, 60, 2, 2);
  std::set<const std::byte*> places;
  while (const Batch* batch = loader.next()) places.insert(batch->views.at(0).data());
  EXPECT_EQ(places.size(), 3U);
}

TEST(LoaderThreads, AfterTheLastBatchThereIsNone) {
  const Source source(10);
  Loader loader(source.augmenter, source.positions, plan_of(10, 5), 1, 2);
  EXPECT_NE(loader.next(), nullptr);
  EXPECT_EQ(loader.next(), nullptr);
  EXPECT_EQ(loader.next(), nullptr);
}

TEST(LoaderThreads, WaitingIsCountedInSeconds) {
  const Source source(100);
  Loader none(source.augmenter, source.positions, plan_of(100, 10), 3, 3);
  EXPECT_EQ(none.next(), nullptr);
  EXPECT_EQ(none.waited(), 0);
  // Taking is nothing beside preparing, so that some of so many batches are not ready.
  Loader loader(source.augmenter, source.positions, plan_of(100, 100), 0, 300);
  const auto start = std::chrono::steady_clock::now();
  while (loader.next()) {
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  EXPECT_GT(loader.waited(), 0);
  EXPECT_LE(loader.waited(), passed.count());
}

TEST(LoaderThreads, PlansThatCannotBeAreRefused) {
  const Source source(10);
  EXPECT_EQ(user_error([&] { load(source, plan_of(0, 10), 0, 0); }),
            "there are no samples to make batches of; give at least one");
  BatchPlan plan = plan_of(10, 5);
  EXPECT_THROW(load(source, plan, 2, 1), std::invalid_argument);
  EXPECT_THROW(load(source, plan, 0, std::size_t{1} << 40), std::invalid_argument);
  plan.stream = 256;
  EXPECT_THROW(load(source, plan, 0, 1), std::invalid_argument);
  plan = plan_of(10, 0);
  EXPECT_THROW(load(source, plan, 0, 1), std::invalid_argument);
  plan = plan_of(10, 5);
  plan.views.clear();
  EXPECT_THROW(load(source, plan, 0, 1), std::invalid_argument);
}

}  // namespace
}  // namespace regroup
