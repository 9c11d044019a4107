#include "regroup/audit/audit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace regroup {

std::vector<std::uint32_t> Audit::worst_first() const {
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (samples[i].listed) order.push_back(static_cast<std::uint32_t>(i));
  std::ranges::stable_sort(order, {}, [this](std::uint32_t i) { return samples[i].belief.right; });
  return order;
}

std::span<const LikelyClass> Audit::likely_of(std::uint32_t sample) const {
  for (const AuditedLabels& group : labels)
    if (sample >= group.first && sample - group.first < group.beliefs.samples.size())
      return group.beliefs.likely_of(sample - group.first);
  return {};
}

std::size_t Audit::contradictions() const {
  std::map<std::int32_t, std::int32_t> label_of;
  std::map<std::int32_t, bool> differs;
  for (const AuditedSample& sample : samples) {
    if (sample.duplicates < 0) continue;
    const auto [first, is_new] = label_of.try_emplace(sample.duplicates, sample.given);
    if (first->second != sample.given) differs[sample.duplicates] = true;
  }
  return differs.size();
}

double average_precision(std::span<const float> scores, std::span<const std::uint8_t> found) {
  std::vector<std::uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return scores[i]; });
  const double all = static_cast<double>(std::ranges::count(found, std::uint8_t{1}));
  double precision_sum = 0, hits = 0;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    double step = found[order[begin]];
    for (; end < order.size() && scores[order[end]] == scores[order[begin]]; ++end) step += found[order[end]];
    hits += step;
    precision_sum += step * hits / static_cast<double>(end);
    begin = end;
  }
  return all > 0 ? precision_sum / all : std::nan("");
}

std::optional<AuditQuality> audit_quality(const Audit& audit, const AuditedLabels& labels) {
  constexpr std::size_t ranges = 20;
  std::vector<double> said(ranges), so(ranges);
  std::vector<float> scores;
  std::vector<std::uint8_t> wrong;
  double issues = 0, well = 0;
  for (std::size_t i = labels.first; i < labels.first + labels.beliefs.samples.size(); ++i) {
    const AuditedSample& sample = audit.samples[i];
    if (sample.truth < 0) continue;
    const bool is_wrong = sample.truth != sample.given;
    const auto right = static_cast<double>(sample.belief.right);
    scores.push_back(sample.belief.right);
    wrong.push_back(is_wrong ? 1 : 0);
    const std::size_t range = std::min(ranges - 1, static_cast<std::size_t>(right * ranges));
    said[range] += right;
    so[range] += is_wrong ? 0 : 1;
    if (!is_wrong || !sample.is_issue()) continue;
    ++issues;
    well += sample.belief.other == sample.truth ? 1 : 0;
  }
  if (scores.empty()) return std::nullopt;

  AuditQuality quality;
  quality.known = scores.size();
  quality.wrong = static_cast<std::size_t>(std::ranges::count(wrong, std::uint8_t{1}));
  quality.average_precision = average_precision(scores, wrong);
  std::vector<std::uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return scores[i]; });
  const auto share_among = [&](std::size_t count) {
    double hits = 0;
    for (std::size_t k = 0; k < count; ++k) hits += wrong[order[k]];
    return count > 0 ? hits / static_cast<double>(count) : std::nan("");
  };
  quality.worst_precision = share_among((scores.size() + 99) / 100);
  quality.recall = share_among(quality.wrong);
  for (std::size_t r = 0; r < ranges; ++r) quality.calibration_error += std::abs(said[r] - so[r]);
  quality.calibration_error /= static_cast<double>(scores.size());
  quality.suggestion_accuracy = issues > 0 ? well / issues : std::nan("");
  return quality;
}

}  // namespace regroup
