#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "regroup/audit/audit.h"

namespace regroup {

/// What somebody decided about a label: it should be this one (the given one: it is confirmed), the sample belongs to
/// no class, or what was decided before is undone.
enum class DecisionKind : std::uint8_t { label, none, clear };

struct Decision {
  std::uint32_t sample = 0;  ///< of the audit
  DecisionKind kind = DecisionKind::clear;
  std::int32_t label = -1;  ///< a class where the kind is `label`, else -1

  friend bool operator==(const Decision&, const Decision&) = default;
};

/// `label`, `none` or `clear`, as files and the page write it.
std::string_view decision_name(DecisionKind kind);
std::optional<DecisionKind> decision_kind(std::string_view name);

/// The first line of the file of decisions, with its end.
inline constexpr std::string_view decisions_header = "index,part,path,decision,label\n";

/// A line for each decision, without the header. Texts begin like no formula of a spreadsheet.
std::string decision_lines(std::span<const Decision> decisions, const Audit& audit);

/// The whole file.
std::string decisions_csv(std::span<const Decision> decisions, const Audit& audit);

/// The decisions in such a file, in its order. The columns may come in any order, and `path` may be left out; where it
/// is given, it must be the sample's. A class is given by its name, or by its number where no class has that name.
/// `name` is for the messages. Throws UserError.
std::vector<Decision> parse_decisions(std::string_view text, const std::string& name, const Audit& audit);

/// What holds after all of them: the last one about each sample, without those that were undone, by sample.
std::vector<Decision> standing_decisions(std::span<const Decision> decisions);

}  // namespace regroup
