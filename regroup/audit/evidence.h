#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "regroup/audit/audit.h"
#include "regroup/audit/neighbours.h"

namespace regroup {

struct EvidenceOptions {
  std::size_t each = 4;           ///< similar samples of a class
  std::size_t suspects = 20'000;  ///< the worst so many
  std::size_t believed = 3'000;   ///< samples of a class that are looked at, those that are most clearly right
  int threads = 1;
};

/// What a suspect can be compared with: for each label that is more probably wrong than right, the worst first, the
/// samples of its given label and of the suggested one that look most like it to the network, of those whose labels are
/// believed. `features` has a row per sample of the audit.
std::vector<Evidence> find_evidence(const Audit& audit, const FeatureRows& features, const EvidenceOptions& options);

}  // namespace regroup
