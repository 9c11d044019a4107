#include "regroup/methods/elr.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "methods/rows.h"

namespace regroup {
namespace {

TEST(Elr, ProbabilitiesAreNeverQuiteZeroOrOne) {
  const at::Tensor p = bounded_softmax(rows_of({{50.0F, 0.0F, -50.0F}}));
  EXPECT_DOUBLE_EQ(p[0][0].item<double>(), 1 - 1e-4);
  EXPECT_DOUBLE_EQ(p[0][2].item<double>(), 1e-4);
}

/// By hand: from 0, with beta 0.7, after (0.8, 0.2) and then (0.4, 0.6).
TEST(Elr, WhatWasSaidFollowsThePredictions) {
  at::Tensor t = at::zeros({1, 2}, at::kDouble);
  t = ensembled(t, rows_of({{0.8, 0.2}}), 0.7);
  EXPECT_TRUE(t.allclose(rows_of({{0.24, 0.06}})));
  t = ensembled(t, rows_of({{0.4, 0.6}}), 0.7);
  EXPECT_TRUE(t.allclose(rows_of({{0.7 * 0.24 + 0.3 * 0.4, 0.7 * 0.06 + 0.3 * 0.6}})));
}

TEST(Elr, ThePredictionsAreNormalisedFirst) {
  const at::Tensor t = ensembled(at::zeros({1, 2}, at::kDouble), rows_of({{0.5, 0.75}}), 0);
  EXPECT_TRUE(t.allclose(rows_of({{0.4, 0.6}})));
}

TEST(Elr, TheTermIsTheLogarithmOfWhatIsNotAgreedOn) {
  const at::Tensor t = rows_of({{0.9, 0.05}, {0.1, 0.7}});
  const at::Tensor p = rows_of({{0.6, 0.4}, {0.8, 0.2}});
  const at::Tensor term = early_learning_term(t, p);
  EXPECT_NEAR(term[0].item<double>(), std::log(1 - 0.9 * 0.6 - 0.05 * 0.4), 1e-12);
  EXPECT_NEAR(term[1].item<double>(), std::log(1 - 0.1 * 0.8 - 0.7 * 0.2), 1e-12);
}

}  // namespace
}  // namespace regroup
