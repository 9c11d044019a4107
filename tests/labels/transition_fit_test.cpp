#include "regroup/labels/transition_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "labels/made_labels.h"
#include "regroup/labels/confident.h"

namespace regroup {
namespace {

TEST(TransitionFit, FindsTheMatrixAndTheSharpness) {
  TransitionMatrix truth = symmetric_transition(4, 0.2);
  truth(1, 1) = 0.5;
  truth(1, 2) = 0.45;
  truth(1, 0) = truth(1, 3) = 0.025;
  const MadeLabels made = make_labels(40'000, truth, 9, 6, 0.5);
  const TransitionMatrix found = clear_transition(made.rows, made.noise_rate());
  for (int y = 0; y < 4; ++y)
    for (int o = 0; o < 4; ++o) EXPECT_NEAR(found(y, o), truth(y, o), 0.04) << y << " " << o;
  EXPECT_NEAR(fit_sharpness(made.rows, found), 2, 0.3);
}

TEST(TransitionFit, TakesBackThatGivenLabelsAreFavoured) {
  const TransitionMatrix truth = pairflip_transition(5, 0.3);
  MadeLabels made = make_labels(20'000, truth, 4);
  for (std::size_t i = 0; i < made.truth.size(); ++i)
    made.rows.row(i)[static_cast<std::size_t>(made.rows.labels[i])] += 0.4F;
  EXPECT_LT(clear_disagreement(made.rows).rate, 0.2);
  const TransitionMatrix found = clear_transition(made.rows, 0.3);
  for (int y = 0; y < 5; ++y)
    for (int o = 0; o < 5; ++o) EXPECT_NEAR(found(y, o), truth(y, o), 0.06) << y << " " << o;
}

// The definition, written out.
TEST(TransitionFit, PosteriorIsThatOfBayes) {
  TransitionFit fit{TransitionMatrix(3), 2};
  const double rows[3][3] = {{0.7, 0.2, 0.1}, {0.1, 0.8, 0.1}, {0.3, 0.3, 0.4}};
  for (int y = 0; y < 3; ++y)
    for (int o = 0; o < 3; ++o) fit.transition(y, o) = rows[y][o];
  const double p[3] = {0.5, 0.3, 0.2};
  const std::vector<float> row{std::log(0.5F), std::log(0.3F), std::log(0.2F)};
  std::vector<double> posterior(3);
  posterior_of(row, 1, fit, posterior);
  double expected[3], sum = 0;
  for (int y = 0; y < 3; ++y) sum += expected[y] = p[y] * p[y] * rows[y][1];
  for (std::size_t y = 0; y < 3; ++y) EXPECT_NEAR(posterior[y], expected[y] / sum, 1e-6);
}

TEST(TransitionFit, FewCountsSayLittle) {
  // Equal shares but for luck: the rows become alike.
  std::vector<double> counts(25, 1);
  for (std::size_t y = 0; y < 5; ++y) counts[y * 6] = 20;
  counts[1] = 2;
  const TransitionMatrix few = shrunk_transition(counts, 5);
  EXPECT_NEAR(few(0, 1), few(0, 2), 0.005);
  // A hundred times as many: the difference stays.
  for (double& count : counts) count *= 100;
  const TransitionMatrix many = shrunk_transition(counts, 5);
  EXPECT_GT(many(0, 1) / many(0, 2), 1.5);
  for (int y = 0; y < 5; ++y) {
    const auto row = many.row(y);
    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-9);
  }
}

// A network that predicts wrong labels as often as they come, 60 to 40: by EM there would be no noise.
TEST(TransitionFit, IsNotTakenInByANetworkThatPredictsTheNoise) {
  constexpr std::size_t count = 6000;
  Stream random(3, Purpose::synthetic);
  PredictionRows rows{3, {}, {}};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t truth = random.below(3);
    std::vector<float> row(3, std::log(0.02F));
    row[truth] = std::log(0.58F);
    row[(truth + 1) % 3] = std::log(0.40F);
    for (float& score : row) score += 0.2F * static_cast<float>(random.normal());
    rows.scores.insert(rows.scores.end(), row.begin(), row.end());
    rows.labels.push_back(static_cast<std::int32_t>(random.uniform() < 0.6 ? truth : (truth + 1) % 3));
  }
  EXPECT_NEAR(clear_disagreement(rows).rate, 0.4, 0.05);
  EXPECT_NEAR(clear_transition(rows, 0.4)(0, 1), 0.4, 0.08);
}

// The network takes others for class 2, clearly, and does not recognise what is of it.
TEST(TransitionFit, AClassThatTheNetworkKnowsBadlyIsNotTakenForOneWithoutRightLabels) {
  MadeLabels made = make_labels(8000, symmetric_transition(10, 0.3), 4);
  Stream random(5, Purpose::synthetic);
  for (std::size_t i = 0; i < made.truth.size(); ++i) {
    const auto row = made.rows.row(i);
    const std::int32_t predicted = clearness_of(row).predicted;
    if (made.truth[i] == 2) {
      for (float& score : row) score *= 0.2F;
      row[2] = row[3] - 1;
    } else if (random.uniform() < 0.1) {
      std::swap(row[2], row[static_cast<std::size_t>(predicted)]);
    }
  }
  EXPECT_GT(clear_transition(made.rows, 0.3)(2, 2), 0.5);
}

TEST(TransitionFit, ReadsItFromTheClearestOfEachClass) {
  const std::vector<Clearness> samples{{0, 1}, {0, 3}, {0, 2}, {1, 5}, {1, 1}};
  EXPECT_EQ(most_confident(samples, 2, 0.4), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(most_confident(samples, 2, 1).size(), 5U);
  EXPECT_EQ(most_confident(samples, 2, 0.1, 2), (std::vector<std::uint32_t>{1, 2, 3, 4}));
  EXPECT_TRUE(most_confident({}, 2, 0.5).empty());
  EXPECT_EQ(clearness_of(std::vector<float>{-1, -3, -0.5F}).predicted, 2);
  EXPECT_FLOAT_EQ(clearness_of(std::vector<float>{-1, -3, -0.5F}).lead, 0.5F);
}

TEST(TransitionFit, ABookOfPredictionsDisagreesAsItsRowsDo) {
  const MadeLabels made = make_labels(3000, symmetric_transition(4, 0.3), 6);
  PredictionBook book(made.rows.labels, 4);
  std::vector<std::uint32_t> all(made.truth.size());
  std::iota(all.begin(), all.end(), 0U);
  book.record(all, made.rows.scores);
  EXPECT_NEAR(clear_disagreement(book).rate, clear_disagreement(made.rows).rate, 0.002);
  EXPECT_EQ(clear_disagreement(PredictionBook(made.rows.labels, 4)).rate, 0);
}

}  // namespace
TEST(TransitionFit, AClassWithoutWrongLabelsHasRatesAmongClassesThatDifferAsMuchAsTheyCan) {
  // All wrong labels are in one cell; one class was never seen at all.
  const std::vector<double> counts{0, 900, 0,   0,  //
                                   0, 900, 0,   0,  //
                                   0, 0,   900, 0,  //
                                   0, 0,   0,   0};
  const TransitionMatrix matrix = shrunk_transition(counts, 4);
  for (int y = 0; y < 4; ++y) {
    double sum = 0;
    for (int o = 0; o < 4; ++o) {
      EXPECT_GE(matrix(y, o), 0) << y << ' ' << o;
      sum += matrix(y, o);
    }
    EXPECT_NEAR(sum, 1, 1e-9) << y;
  }
}

}  // namespace regroup
