#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "regroup/audit/decisions.h"

namespace regroup {

/// No batch has more decisions.
inline constexpr std::size_t max_batch = 10'000;

/// The decisions of a body {"decisions": [{"id": 17, "decision": "label", "label": 3}, ...]}. Throws UserError where
/// any of them is not one about the `samples` samples and `classes` classes.
std::vector<Decision> decisions_of_json(std::string_view text, std::size_t samples, int classes);

/// {"seq": `last`, "decisions": [...]}
std::string json_of_decisions(std::uint64_t last, std::span<const Decision> decisions);

}  // namespace regroup
