#include "regroup/methods/iterative_cv.h"

#include <gtest/gtest.h>

#include "regroup/core/random.h"

namespace regroup {
namespace {

/// A network that has learnt labels of which a share e is wrong predicts like them; so does chance here, which draws
/// the label and the prediction of each sample.
double agreement_by_simulation(double rate, std::uint32_t classes, bool asymmetric) {
  Stream random(11, Purpose::synthetic);
  const auto draw = [&] {
    if (random.uniform() >= rate) return 0U;
    return asymmetric ? 1U : 1 + random.below(classes - 1);
  };
  constexpr int samples = 200'000;
  int agreeing = 0;
  for (int i = 0; i < samples; ++i) agreeing += draw() == draw() ? 1 : 0;
  return agreeing / static_cast<double>(samples);
}

TEST(IterativeCv, TheNoiseRateFollowsFromTheAgreement) {
  // The error of the rate is that of the agreement, 0.001, times 1 / (2 (1 - e)).
  for (const double rate : {0.1, 0.3, 0.5}) {
    EXPECT_NEAR(rate_of_agreement(agreement_by_simulation(rate, 10, false), 9), rate, 0.01) << rate;
  }
  EXPECT_NEAR(rate_of_agreement(agreement_by_simulation(0.3, 10, true), 1), 0.3, 0.01);
}

TEST(IterativeCv, AgreementLessThanByChanceIsThatOfChance) {
  EXPECT_NEAR(rate_of_agreement(0.05, 9), 0.9, 1e-12);
  EXPECT_NEAR(rate_of_agreement(1, 9), 0, 1e-12);
}

/// By hand: e = 0.5 and 9 other classes: 0.25 / (0.25 + 9 * 0.25) = 0.1.
TEST(IterativeCv, SelectedLabelsAreWrongWhereBothErrAlike) {
  EXPECT_NEAR(rate_among_selected(0.5, 9), 0.1, 1e-12);
  EXPECT_NEAR(rate_among_selected(0.4, 1), 0.16 / 0.52, 1e-12);
  EXPECT_EQ(rate_among_selected(0, 9), 0);
}

TEST(IterativeCv, AsManyAreRemovedAsTheNoiseOddsSayButAtMostTwoForOne) {
  EXPECT_NEAR(removal_ratio(0.2, false), 0.25, 1e-12);
  EXPECT_NEAR(removal_ratio(0.5, false), 1, 1e-12);
  EXPECT_EQ(removal_ratio(0.8, false), 2);
  EXPECT_EQ(removal_ratio(1, false), 2);
  EXPECT_EQ(removal_ratio(0.4, true), 0);
}

}  // namespace
}  // namespace regroup
