#pragma once

#include <string>
#include <string_view>

namespace regroup {

/// Seconds of `30s`, `5m`, `1.5h`, or of a plain number. Throws UserError.
double parse_duration(std::string_view text);

/// `48 s`, `5 min`, `1 h 20 min`: for a person.
std::string duration_text(double seconds);

}  // namespace regroup
