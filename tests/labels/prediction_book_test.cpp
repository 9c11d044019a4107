#include "regroup/labels/prediction_book.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "labels/made_labels.h"

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

TEST(PredictionBook, SaysNothingAboutASampleWithoutATurn) {
  const PredictionBook book({1}, 4);
  std::vector<float> p(4);
  book.read(0, p);
  EXPECT_EQ(p, std::vector<float>(4, 0.25F));
}

}  // namespace
}  // namespace regroup
