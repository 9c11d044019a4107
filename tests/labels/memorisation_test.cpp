#include "regroup/labels/memorisation.h"

#include <gtest/gtest.h>

#include "labels/made_labels.h"

namespace regroup {
namespace {

TEST(Memorisation, IsFoundAndUndone) {
  PredictionRows trained = make_labels(5000, symmetric_transition(5, 0.3), 1).rows;
  const PredictionRows held_out = make_labels(5000, symmetric_transition(5, 0.3), 2).rows;
  const PredictionRows before = trained;
  for (std::size_t i = 0; i < trained.size(); ++i) {
    for (float& score : trained.row(i)) score *= 2;
    trained.row(i)[static_cast<std::size_t>(trained.labels[i])] += 3;
  }
  const Memorisation found = fit_memorisation(trained, held_out);
  EXPECT_TRUE(found.known);
  EXPECT_NEAR(found.scale, 0.5, 0.05);
  EXPECT_NEAR(found.mean_growth(), 1.5, 0.15);
  for (std::size_t i = 0; i < 500; ++i) {
    found.undo(trained.row(i), trained.labels[i]);
    EXPECT_NEAR(margin_of(trained.row(i), trained.labels[i]), margin_of(before.row(i), before.labels[i]), 0.6);
  }
}

TEST(Memorisation, IsNotGuessedFromAFewSamples) {
  const PredictionRows trained = make_labels(500, symmetric_transition(5, 0.3), 1).rows;
  const PredictionRows few = make_labels(20, symmetric_transition(5, 0.3), 2).rows;
  const Memorisation found = fit_memorisation(trained, few);
  EXPECT_FALSE(found.known);
  PredictionRows row = trained;
  found.undo(row.row(0), row.labels[0]);
  EXPECT_EQ(row.scores, trained.scores);
}

}  // namespace
}  // namespace regroup
