#include "regroup/labels/beliefs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "labels/made_labels.h"
#include "regroup/core/error.h"

namespace regroup {
namespace {

BeliefInput input_of(const MadeLabels& made) {
  BeliefInput input;
  input.classes = made.rows.classes;
  input.labels = made.rows.labels;
  input.predict = [&made](std::size_t i, std::span<float> out) { std::ranges::copy(made.rows.row(i), out.begin()); };
  return input;
}

/// The mean distance between what is believed and what is so, over twenty ranges of the score.
double calibration_error(const Beliefs& beliefs, const MadeLabels& made) {
  constexpr std::size_t ranges = 20;
  std::vector<double> said(ranges), so(ranges);
  for (std::size_t i = 0; i < made.truth.size(); ++i) {
    const auto right = static_cast<double>(beliefs.samples[i].right);
    const std::size_t range = std::min(ranges - 1, static_cast<std::size_t>(right * ranges));
    said[range] += right;
    so[range] += made.is_wrong(i) ? 0 : 1;
  }
  double error = 0;
  for (std::size_t r = 0; r < ranges; ++r) error += std::abs(said[r] - so[r]);
  return error / static_cast<double>(made.truth.size());
}

TEST(Beliefs, AreCalibratedAndKnowTheNoiseRate) {
  for (const double rate : {0.0, 0.1, 0.3, 0.6}) {
    const MadeLabels made = make_labels(8000, symmetric_transition(10, rate), 3);
    const Beliefs beliefs = believe(input_of(made));
    EXPECT_NEAR(beliefs.noise_rate.value, made.noise_rate(), 0.03) << rate;
    EXPECT_LT(calibration_error(beliefs, made), 0.03) << rate;
  }
}

TEST(Beliefs, TellWhichOfTwoConfusedClassesALabelBelongsTo) {
  const MadeLabels made = make_labels(8000, pairflip_transition(10, 0.4), 5);
  const Beliefs beliefs = believe(input_of(made));
  EXPECT_NEAR(beliefs.noise_rate.value, made.noise_rate(), 0.03);
  EXPECT_NEAR(beliefs.fit.transition(3, 4), 0.4, 0.08);
  EXPECT_LT(beliefs.fit.transition(3, 5), 0.03);
  double agree = 0;
  for (std::size_t i = 0; i < made.truth.size(); ++i) agree += beliefs.samples[i].likeliest == made.truth[i] ? 1 : 0;
  EXPECT_GT(agree / static_cast<double>(made.truth.size()), 0.85);
}

TEST(Beliefs, NameTheLikeliestClassesInTheirOrder) {
  const MadeLabels made = make_labels(500, symmetric_transition(12, 0.3), 3);
  const Beliefs beliefs = believe(input_of(made));
  ASSERT_EQ(beliefs.likely_each, 9U);
  for (std::size_t i = 0; i < made.truth.size(); ++i) {
    const auto likely = beliefs.likely_of(i);
    const Belief& belief = beliefs.samples[i];
    EXPECT_TRUE(std::ranges::is_sorted(likely, std::ranges::greater{}, &LikelyClass::probability)) << i;
    EXPECT_EQ(likely[0].label, belief.likeliest) << i;
    for (const LikelyClass& one : likely) {
      const bool is_given = one.label == made.rows.labels[i];
      if (!is_given && one.label != belief.other) continue;
      EXPECT_EQ(one.probability, is_given ? belief.right : belief.other_probability) << i;
    }
  }
}

// A fixed set of seeds: of 40 intervals of 95 % nine in ten hold at least.
TEST(Beliefs, IntervalsOfTheNoiseRateHoldAsOftenAsTheySay) {
  int holds = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const MadeLabels made = make_labels(1500, symmetric_transition(5, 0.1 + 0.1 * static_cast<double>(seed % 4)), seed);
    const Estimate rate = believe(input_of(made)).noise_rate;
    holds += rate.low <= made.noise_rate() && made.noise_rate() <= rate.high ? 1 : 0;
  }
  EXPECT_GE(holds, 36);
}

TEST(Beliefs, OfWhatWasTrainedOnAndWhatWasNotAreComparable) {
  MadeLabels made = make_labels(8000, symmetric_transition(10, 0.3), 7);
  std::vector<Footing> footing(made.truth.size(), Footing::trained_on);
  for (std::size_t i = 0; i < footing.size(); ++i) {
    if (i % 8 == 0) {
      footing[i] = Footing::held_out;
    } else {
      made.rows.row(i)[static_cast<std::size_t>(made.rows.labels[i])] += 1.5F;
    }
  }
  BeliefInput input = input_of(made);
  EXPECT_LT(believe(input).noise_rate.value, 0.2) << "the bias shows where it is not known";
  input.footing = footing;
  const Beliefs beliefs = believe(input);
  // A thousand samples tell the noise rate only so well, which the interval knows.
  EXPECT_LE(beliefs.noise_rate.low, made.noise_rate());
  EXPECT_GE(beliefs.noise_rate.high, made.noise_rate());
  EXPECT_LT(calibration_error(beliefs, made), 0.05);

  // The course of the training makes it certain.
  const std::vector<float> course(10, static_cast<float>(made.noise_rate()));
  input.course = course;
  const Beliefs informed = believe(input);
  EXPECT_NEAR(informed.noise_rate.value, made.noise_rate(), 0.02);
  EXPECT_LT(calibration_error(informed, made), 0.03);
  EXPECT_LT(informed.trained_on.shift, -1) << "what training did to the labels' scores is taken back";
}

TEST(Beliefs, NeverDoubtALabelThatSomebodyVerified) {
  const MadeLabels made = make_labels(2000, symmetric_transition(4, 0.4), 1);
  std::vector<std::uint8_t> trusted(made.truth.size());
  trusted[7] = 1;
  BeliefInput input = input_of(made);
  input.trusted = trusted;
  const Beliefs beliefs = believe(input);
  EXPECT_EQ(beliefs.samples[7].right, 1);
  EXPECT_EQ(beliefs.samples[7].likeliest, made.rows.labels[7]);
}

TEST(Beliefs, AreTheSameOnAnyNumberOfThreads) {
  const MadeLabels made = make_labels(3000, symmetric_transition(6, 0.2), 2);
  BeliefInput input = input_of(made);
  const Beliefs one = believe(input);
  input.threads = 3;
  const Beliefs three = believe(input);
  for (std::size_t i = 0; i < made.truth.size(); ++i) EXPECT_EQ(one.samples[i].right, three.samples[i].right);
}

TEST(Beliefs, ExpectAsManyWrongLabelsInASetAsThereAre) {
  const MadeLabels made = make_labels(8000, symmetric_transition(10, 0.3), 11);
  const Beliefs beliefs = believe(input_of(made));
  std::vector<std::uint32_t> doubtful;
  double wrong = 0;
  for (std::size_t i = 0; i < made.truth.size(); ++i) {
    if (beliefs.samples[i].right > 0.3F) continue;
    doubtful.push_back(static_cast<std::uint32_t>(i));
    wrong += made.is_wrong(i) ? 1 : 0;
  }
  const Estimate expected = beliefs.expected_wrong(doubtful);
  EXPECT_LE(expected.low, wrong);
  EXPECT_GE(expected.high, wrong);
  EXPECT_EQ(beliefs.expected_wrong({}).value, 0);
}

TEST(Beliefs, RefuseWhatDoesNotFit) {
  MadeLabels made = make_labels(20, symmetric_transition(3, 0.2), 1);
  made.rows.labels[4] = 3;
  EXPECT_THROW(believe(input_of(made)), UserError);
  made.rows.labels[4] = 0;
  made.rows.row(5)[1] = NAN;
  EXPECT_THROW(believe(input_of(made)), UserError);
  BeliefInput nothing;
  nothing.classes = 3;
  EXPECT_EQ(believe(nothing).samples.size(), 0U);
}

}  // namespace
}  // namespace regroup
