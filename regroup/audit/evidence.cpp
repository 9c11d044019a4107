#include "regroup/audit/evidence.h"

#include <algorithm>
#include <functional>

namespace regroup {
namespace {

/// The samples of a class whose labels are most clearly right.
std::vector<std::uint32_t> most_believed(const Audit& audit, std::vector<std::uint32_t> members, std::size_t most) {
  const auto right = [&](std::uint32_t i) { return audit.samples[i].belief.right; };
  std::erase_if(members, [&](std::uint32_t i) { return audit.samples[i].is_issue(); });
  std::ranges::stable_sort(members, std::greater{}, right);
  members.resize(std::min(members.size(), most));
  return members;
}

std::vector<float> rows_of(const FeatureRows& features, const std::vector<std::uint32_t>& samples) {
  std::vector<float> rows;
  rows.reserve(samples.size() * features.dimension);
  for (const std::uint32_t i : samples) rows.insert(rows.end(), features.row(i).begin(), features.row(i).end());
  return rows;
}

}  // namespace

std::vector<Evidence> find_evidence(const Audit& audit, const FeatureRows& features, const EvidenceOptions& options) {
  std::vector<Evidence> evidence;
  for (const std::uint32_t i : audit.worst_first()) {
    if (evidence.size() == options.suspects || !audit.samples[i].is_issue()) break;
    evidence.push_back({i, {}, {}});
  }
  if (features.size() != audit.samples.size()) return {};

  const std::size_t classes = audit.class_names.size();
  std::vector<std::vector<std::uint32_t>> members(classes), given(classes), suggested(classes);
  for (std::uint32_t i = 0; i < audit.samples.size(); ++i)
    members[static_cast<std::size_t>(audit.samples[i].given)].push_back(i);
  for (std::uint32_t e = 0; e < evidence.size(); ++e) {
    const AuditedSample& suspect = audit.samples[evidence[e].suspect];
    given[static_cast<std::size_t>(suspect.given)].push_back(e);
    if (suspect.belief.other >= 0) suggested[static_cast<std::size_t>(suspect.belief.other)].push_back(e);
  }

  for (std::size_t y = 0; y < classes; ++y) {
    const std::vector<std::uint32_t> believed = most_believed(audit, std::move(members[y]), options.believed);
    if (believed.empty()) continue;
    const std::vector<float> rows = rows_of(features, believed);
    const NeighbourIndex index({rows, features.dimension}, {.exact_below = believed.size() + 1});
    const std::size_t each = std::min(options.each, believed.size());
    const auto look_up = [&](const std::vector<std::uint32_t>& asking, std::vector<Neighbour> Evidence::*answer) {
      std::vector<std::uint32_t> suspects;
      suspects.reserve(asking.size());
      for (const std::uint32_t e : asking) suspects.push_back(evidence[e].suspect);
      const std::vector<float> queries = rows_of(features, suspects);
      const std::vector<Neighbour> found = index.nearest({queries, features.dimension}, each, options.threads);
      for (std::size_t k = 0; k < asking.size(); ++k)
        for (std::size_t n = k * each; n < (k + 1) * each; ++n)
          (evidence[asking[k]].*answer).push_back({believed[found[n].id], found[n].similarity});
    };
    look_up(given[y], &Evidence::like_given);
    look_up(suggested[y], &Evidence::like_suggested);
  }
  return evidence;
}

}  // namespace regroup
