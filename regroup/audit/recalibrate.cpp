#include "regroup/audit/recalibrate.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace regroup {
namespace {

/// Beliefs are never so certain that nothing could be learnt.
constexpr double least = 1e-6;

double log_odds(double p) {
  const double inside = std::clamp(p, least, 1 - least);
  return std::log(inside / (1 - inside));
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double wrong_before(const Audit& audit, const Decision& decision) {
  return 1 - static_cast<double>(audit.samples[decision.sample].belief.right);
}

void take_decision(const Decision& decision, AuditedSample& sample) {
  sample.decided = decision.label;
  Belief& belief = sample.belief;
  const bool is_right = decision.label == sample.given;
  belief.right = is_right ? 1.0F : 0.0F;
  belief.other_probability = 0;
  belief.likeliest = sample.given;
  sample.none_of_these = decision.label == no_class ? 1.0F : 0.0F;
  if (is_right || decision.label == no_class) return;
  belief.other = belief.likeliest = decision.label;
  belief.other_probability = 1;
}

/// Rates by counting what is believed now; the uncertainty that all labels share shrinks with what was seen.
void renew_rates(Audit& audit, AuditedLabels& labels) {
  Beliefs& beliefs = labels.beliefs;
  std::vector<std::vector<std::uint32_t>> members(audit.class_names.size());
  std::vector<std::uint32_t> all;
  beliefs.doubt = 0;
  for (std::uint32_t i = 0; i < beliefs.samples.size(); ++i) {
    const AuditedSample& sample = audit.samples[labels.first + i];
    beliefs.samples[i] = sample.belief;
    const auto right = static_cast<double>(sample.belief.right);
    beliefs.doubt += right * (1 - right);
    members[static_cast<std::size_t>(sample.given)].push_back(i);
    all.push_back(i);
  }
  const auto share = [&](const std::vector<std::uint32_t>& samples) -> Estimate {
    const Estimate count = beliefs.expected_wrong(samples);
    const auto of = static_cast<double>(std::max<std::size_t>(samples.size(), 1));
    return {count.value / of, count.low / of, count.high / of};
  };
  beliefs.noise_rate = share(all);
  beliefs.class_noise_rates.clear();
  for (const auto& samples : members) beliefs.class_noise_rates.push_back(share(samples));
}

}  // namespace

float Recalibration::right(float before) const {
  if (before >= 1) return 1;  // verified before
  return static_cast<float>(1 - sigmoid(shift + log_odds(1 - static_cast<double>(before))));
}

double shift_spread(const Audit& audit) {
  constexpr double narrowest = 0.1, widest = 3;
  if (audit.labels.empty()) return 1;
  const Beliefs& beliefs = audit.labels.front().beliefs;
  if (beliefs.doubt <= 0 || beliefs.uncertainty <= 0) return 1;
  return std::clamp(beliefs.uncertainty * static_cast<double>(beliefs.samples.size()) / beliefs.doubt, narrowest,
                    widest);
}

Recalibration recalibration(const Audit& audit, std::span<const Decision> decisions) {
  const double spread = shift_spread(audit), precision = 1 / (spread * spread);
  constexpr int halvings = 60;
  constexpr double widest = 10;
  Recalibration found;
  std::vector<double> scores;
  double wrong = 0;
  for (const Decision& decision : decisions) {
    scores.push_back(log_odds(wrong_before(audit, decision)));
    found.expected_wrong += wrong_before(audit, decision);
    wrong += decision.label != audit.samples[decision.sample].given ? 1 : 0;
  }
  found.looked_at = decisions.size();
  found.found_wrong = static_cast<std::size_t>(wrong);
  double low = -widest, high = widest;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2;
    double rest = wrong - middle * precision;
    for (const double score : scores) rest -= sigmoid(middle + score);
    (rest > 0 ? low : high) = middle;
  }
  found.shift = (low + high) / 2;
  double information = precision;
  for (const double score : scores) {
    const double p = sigmoid(found.shift + score);
    information += p * (1 - p);
  }
  found.error = 1 / std::sqrt(information);
  return found;
}

void apply_decisions(std::span<const Decision> decisions, Audit& audit) {
  if (decisions.empty()) return;
  const Recalibration found = recalibration(audit, decisions);
  const double spread = shift_spread(audit);
  for (const Decision& decision : decisions) take_decision(decision, audit.samples[decision.sample]);
  for (AuditedSample& sample : audit.samples) {
    if (sample.decided) continue;
    const float right = found.right(sample.belief.right);
    // What the other classes had is shared out as before.
    const float rest = 1 - sample.belief.right;
    if (rest > 0) sample.belief.other_probability *= (1 - right) / rest;
    sample.belief.right = right;
    sample.belief.likeliest = sample.belief.other_probability > right ? sample.belief.other : sample.given;
  }
  for (AuditedLabels& labels : audit.labels) {
    // What all beliefs may be off by together is known better than before.
    labels.beliefs.uncertainty *= found.error / spread;
    renew_rates(audit, labels);
  }
}

}  // namespace regroup
