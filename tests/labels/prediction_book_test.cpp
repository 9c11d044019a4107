#include "regroup/labels/prediction_book.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <thread>

#include "labels/made_labels.h"
#include "regroup/core/random.h"
#include "regroup/core/simd.h"
#include "regroup/labels/prediction_kernels.h"

namespace regroup {
namespace {

TEST(PredictionBook, KeepsTheMeanOverTheTurnsOfEachSample) {
  PredictionBook book({0, 2}, 3);
  EXPECT_TRUE(book.empty());
  const std::vector<std::uint32_t> both{0, 1}, second{1};
  const auto log_of = [](std::vector<double> p) {
    std::vector<float> rows;
    for (const double v : p) rows.push_back(static_cast<float>(std::log(v)));
    return rows;
  };
  book.record(both, log_of({0.7, 0.2, 0.1, 0.3, 0.3, 0.4}));
  book.record(second, log_of({0.1, 0.1, 0.8}));
  std::vector<float> p(3);
  book.read(0, p);
  EXPECT_NEAR(p[0], 0.7, 1e-6);
  book.read(1, p);
  EXPECT_NEAR(p[2], 0.6, 1e-6);
  EXPECT_EQ(book.turns(0), 1);
  EXPECT_EQ(book.turns(1), 2);
  EXPECT_NEAR(book.loss(1), -(std::log(0.4) + std::log(0.8)) / 2, 1e-5);
  EXPECT_NEAR(book.margin(1), (std::log(0.4 / 0.3) + std::log(0.8 / 0.1)) / 2, 1e-5);
  EXPECT_FALSE(book.empty());
}

TEST(PredictionBook, KeepsTheLikeliestOfManyClassesAndTheGivenLabel) {
  constexpr int classes = 100;
  const MadeLabels made = make_labels(50, symmetric_transition(classes, 0.5), 1, 4, 1);
  PredictionBook book(made.rows.labels, classes);
  std::vector<std::uint32_t> all(made.truth.size());
  std::iota(all.begin(), all.end(), 0U);
  for (int turn = 0; turn < 4; ++turn) book.record(all, made.rows.scores);
  EXPECT_LE(book.shares().size() * 4 + book.names().size() * 4, 64 * all.size());
  std::vector<float> p(classes);
  for (const std::uint32_t i : all) {
    book.read(i, p);
    EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-4);
    const auto label = static_cast<std::size_t>(made.rows.labels[i]);
    const auto row = made.rows.row(i);
    EXPECT_NEAR(p[label], std::exp(row[label]), 1e-5);
    const auto top = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
    EXPECT_NEAR(p[top], std::exp(row[top]), 1e-5);
  }
}

/// The same by a full sort of all classes.
class SlowBook {
 public:
  SlowBook(std::size_t label, std::size_t classes)
      : label_(label), mean_(classes, 1.0 / static_cast<double>(classes)) {}

  void record(std::vector<float> logits) {
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
    ++turns_;
    for (std::size_t y = 0; y < mean_.size(); ++y)
      mean_[y] += (std::exp(static_cast<double>(logits[y])) / sum - mean_[y]) / turns_;
    std::vector<std::size_t> order(mean_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return a == label_ || b == label_ ? a == label_ && b != label_ : mean_[a] > mean_[b];
    });
    double known = 0;
    for (std::size_t k = 0; k < PredictionBook::kept; ++k) known += mean_[order[k]];
    for (std::size_t k = PredictionBook::kept; k < order.size(); ++k)
      mean_[order[k]] = (1 - known) / static_cast<double>(order.size() - PredictionBook::kept);
  }

  const std::vector<double>& mean() const { return mean_; }

 private:
  std::size_t label_;
  std::vector<double> mean_;
  int turns_ = 0;
};

TEST(PredictionBook, KeepsWhatASortOfAllClassesWouldKeep) {
  for (const int classes : {17, 100}) {
    const MadeLabels made = make_labels(60, symmetric_transition(classes, 0.5), 2, 3, 1);
    PredictionBook book({made.rows.labels.front()}, classes);
    SlowBook slow(static_cast<std::size_t>(made.rows.labels.front()), static_cast<std::size_t>(classes));
    std::vector<float> p(static_cast<std::size_t>(classes));
    const std::vector<std::uint32_t> first{0};
    // Each row is another turn of one sample, so that classes come and go.
    for (std::size_t turn = 0; turn < made.truth.size(); ++turn) {
      const auto row = made.rows.row(turn);
      book.record(first, row);
      slow.record({row.begin(), row.end()});
      book.read(0, p);
      for (std::size_t y = 0; y < p.size(); ++y) ASSERT_NEAR(p[y], slow.mean()[y], 1e-5) << turn << ", class " << y;
    }
  }
}

TEST(PredictionBook, IsTheSameOnAnyNumberOfThreads) {
  constexpr int classes = 100;
  const MadeLabels made = make_labels(300, symmetric_transition(classes, 0.5), 4, 3, 1);
  std::vector<std::uint32_t> samples(made.truth.size());
  // Some have two turns.
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<std::uint32_t>(i % 200);
  const std::vector<std::int32_t> labels(made.rows.labels.begin(), made.rows.labels.begin() + 200);
  PredictionBook one(labels, classes), other(labels, classes);
  const Workers threads{3, [](std::size_t tasks, const std::function<void(std::size_t)>& body) {
                          std::vector<std::jthread> running;
                          for (std::size_t task = 0; task < tasks; ++task) running.emplace_back(body, task);
                        }};
  std::vector<std::int32_t> first(200, -1), second(200, -1);
  one.record(samples, made.rows.scores, first);
  other.record(samples, made.rows.scores, second, threads);
  EXPECT_EQ(one.shares(), other.shares());
  EXPECT_EQ(one.names(), other.names());
  EXPECT_EQ(one.losses(), other.losses());
  EXPECT_EQ(one.margins(), other.margins());
  EXPECT_EQ(first, second);
}

#if defined(__x86_64__)
TEST(PredictionKernels, GiveTheSameOnEveryProcessor) {
  if (!cpu_has_avx2()) GTEST_SKIP() << "this processor has no AVX2";
  Stream stream(1, Purpose::synthetic);
  for (const std::size_t count : {9U, 17U, 100U, 1000U})
    for (const std::uint32_t steps : {2U, 10U, 1'000'000U}) {  // few: many are equal
      std::vector<float> values(count);
      for (float& value : values) value = static_cast<float>(stream.below(steps));
      std::vector<std::int32_t> sorted(count);
      std::iota(sorted.begin(), sorted.end(), 0);
      std::ranges::stable_sort(sorted, [&](std::int32_t a, std::int32_t b) {
        return values[static_cast<std::size_t>(a)] > values[static_cast<std::size_t>(b)];
      });
      sorted.resize(7);
      const auto check = [&](auto find, auto move) {
        std::vector<std::int32_t> found(7, -1);
        find(values.data(), count, 7, found.data());
        EXPECT_EQ(found, sorted) << count << " values of " << steps;
        std::vector<float> moved(count);
        move(0.5F, values.data(), 0.25F, count, moved.data());
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(moved[i], 0.5F + (values[i] - 0.5F) * 0.25F);
      };
      check(baseline::find_largest, baseline::move_towards);
      check(avx2::find_largest, avx2::move_towards);
      if (cpu_has_avx512_bf16()) check(avx512::find_largest, avx512::move_towards);
    }
}
#endif

TEST(PredictionBook, TellsTheLikeliestClassOfEachLogit) {
  PredictionBook book({0, 2, 1}, 3);
  std::vector<std::int32_t> predicted(3, -1);
  book.record(std::vector<std::uint32_t>{2, 0}, std::vector<float>{5, 7, 6, 3, 2, 3}, predicted);
  EXPECT_EQ(predicted, (std::vector<std::int32_t>{0, -1, 1}));
  EXPECT_NEAR(book.loss(2), std::log(1 + std::exp(-1.0) + std::exp(-2.0)), 1e-6);
}

TEST(PredictionBook, SaysNothingAboutASampleWithoutATurn) {
  const PredictionBook book({1}, 4);
  std::vector<float> p(4);
  book.read(0, p);
  EXPECT_EQ(p, std::vector<float>(4, 0.25F));
}

}  // namespace
}  // namespace regroup
