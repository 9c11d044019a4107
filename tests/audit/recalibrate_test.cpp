#include "regroup/audit/recalibrate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "audit/small_audit.h"
#include "regroup/audit/audit_files.h"
#include "regroup/core/random.h"

namespace regroup {
namespace {

/// Labels whose odds of being wrong are exp(shift) times as large as an audit believes.
struct Believed {
  Audit audit;
  std::vector<std::uint8_t> wrong;
};

Believed make_believed(std::uint32_t count, double shift, std::uint64_t seed) {
  Believed made;
  made.audit.class_names = {"cat", "dog"};
  made.audit.parts = {"train"};
  Stream random(seed, Purpose::synthetic);
  for (std::uint32_t i = 0; i < count; ++i) {
    const double believed = 0.02 + 0.96 * random.uniform();
    const double odds = believed / (1 - believed) * std::exp(shift);
    AuditedSample sample;
    sample.index = i;
    sample.belief = {static_cast<float>(1 - believed), believed > 0.5 ? 1 : 0, 1, static_cast<float>(believed), 1, 0};
    made.audit.samples.push_back(sample);
    made.wrong.push_back(random.uniform() < odds / (1 + odds) ? 1 : 0);
  }
  Beliefs beliefs;
  for (const AuditedSample& sample : made.audit.samples) beliefs.samples.push_back(sample.belief);
  // The spread is 1.
  for (const Belief& belief : beliefs.samples)
    beliefs.doubt += static_cast<double>(belief.right) * (1 - static_cast<double>(belief.right));
  beliefs.uncertainty = beliefs.doubt / count;
  made.audit.labels.push_back({"labels", beliefs, 0});
  return made;
}

/// What a reviewer finds who looks at the worst so many.
std::vector<Decision> look_at_worst(const Believed& made, std::size_t count) {
  std::vector<Decision> decisions;
  for (const std::uint32_t i : made.audit.worst_first()) {
    if (decisions.size() == count) break;
    decisions.push_back({i, DecisionKind::label, made.wrong[i] != 0 ? 1 : 0});
  }
  return decisions;
}

/// The logarithm of how probable the findings and the shift are, up to a constant.
double log_posterior(const Believed& made, const std::vector<Decision>& decisions, double shift) {
  double sum = -shift * shift / 2;
  for (const Decision& decision : decisions) {
    const double p = 1 - static_cast<double>(made.audit.samples[decision.sample].belief.right);
    const double odds = p / (1 - p) * std::exp(shift), now = odds / (1 + odds);
    sum += std::log(made.wrong[decision.sample] != 0 ? now : 1 - now);
  }
  return sum;
}

TEST(Recalibration, IsTheLikeliestShift) {
  const Believed made = make_believed(300, -1, 3);
  const std::vector<Decision> decisions = look_at_worst(made, 100);
  const Recalibration found = recalibration(made.audit, decisions);
  double best = -10;
  for (double shift = -10; shift <= 10; shift += 0.001)
    if (log_posterior(made, decisions, shift) > log_posterior(made, decisions, best)) best = shift;
  EXPECT_NEAR(found.shift, best, 0.002);
  const double step = 0.01, here = log_posterior(made, decisions, found.shift);
  const double curvature = (2 * here - log_posterior(made, decisions, found.shift + step) -
                            log_posterior(made, decisions, found.shift - step)) /
                           (step * step);
  EXPECT_NEAR(found.error, 1 / std::sqrt(curvature), 0.01 * found.error);
  EXPECT_EQ(found.looked_at, 100U);
}

// The worst are looked at only, and beliefs in the others are mended all the same. The standard deviation of the number
// of wrong ones among 6,000 is under 39, so four of them are 160.
TEST(Recalibration, MendsTheBeliefsInLabelsThatNobodyLookedAt) {
  for (const double shift : {-2.0, 0.0, 1.5}) {
    Believed made = make_believed(8000, shift, 7);
    const std::vector<Decision> decisions = look_at_worst(made, 2000);
    apply_decisions(decisions, made.audit);
    double believed = 0, wrong = 0;
    for (std::size_t i = 0; i < made.wrong.size(); ++i) {
      if (made.audit.samples[i].decided) continue;
      believed += 1 - static_cast<double>(made.audit.samples[i].belief.right);
      wrong += made.wrong[i];
    }
    EXPECT_NEAR(believed, wrong, 160 + 0.1 * wrong) << shift;
  }
}

// A shift of the spread changes the number of labels that are believed wrong by what it is uncertain by.
TEST(Recalibration, TheSpreadIsThatOfTheNoiseRate) {
  Believed made = make_believed(4000, 0, 5);
  Beliefs& beliefs = made.audit.labels[0].beliefs;
  beliefs.uncertainty = 0.03;
  double before = 0, after = 0;
  Recalibration shifted;
  shifted.shift = shift_spread(made.audit);
  for (const AuditedSample& sample : made.audit.samples) {
    before += 1 - static_cast<double>(sample.belief.right);
    after += 1 - static_cast<double>(shifted.right(sample.belief.right));
  }
  EXPECT_NEAR((after - before) / 4000, 0.03, 0.001);
  EXPECT_EQ(shift_spread(Audit()), 1);
}

TEST(Recalibration, NothingThatWasDecidedLeavesBeliefsAsTheyAre) {
  const Audit before = small_audit();
  Audit after = before;
  apply_decisions({}, after);
  for (std::size_t i = 0; i < before.samples.size(); ++i)
    EXPECT_EQ(before.samples[i].belief.right, after.samples[i].belief.right);
  EXPECT_NEAR(recalibration(before, {}).shift, 0, 1e-12);
}

TEST(Recalibration, DecisionsAreCertain) {
  Audit audit = small_audit();
  // Sample 1 was called a dog and is confirmed; sample 3 was believed and is corrected; sample 2 is of no class.
  const std::vector<Decision> decisions{
      {1, DecisionKind::label, 1}, {2, DecisionKind::none, no_class}, {3, DecisionKind::label, 0}};
  apply_decisions(decisions, audit);
  EXPECT_FALSE(audit.samples[1].is_issue());
  EXPECT_TRUE(audit.samples[1].is_clear());
  EXPECT_EQ(audit.samples[1].corrected(), 1);
  EXPECT_TRUE(audit.samples[2].is_issue());
  EXPECT_FALSE(audit.samples[2].is_clear());
  EXPECT_EQ(audit.samples[2].corrected(), 0) << "there is no better label";
  EXPECT_EQ(audit.samples[2].none_of_these, 1);
  EXPECT_TRUE(audit.samples[3].is_clear());
  EXPECT_EQ(audit.samples[3].corrected(), 0);
  EXPECT_EQ(corrected_csv(audit, {0, 1, 0, 1}, {}, {}), "index,label\n0,0\n1,1\n2,0\n3,0\n");
  EXPECT_EQ(audit.labels[0].beliefs.samples[3].right, 0);
  // Two of four are known to be wrong, and the two others are all but certain.
  EXPECT_NEAR(audit.labels[0].beliefs.noise_rate.value, 0.5, 0.02);
}

}  // namespace
}  // namespace regroup
