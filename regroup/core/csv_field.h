#pragma once

#include <string>
#include <string_view>

namespace regroup {

/// A text as a field of a CSV line (RFC 4180): in double quotes where it holds a comma, a quote or a line end.
std::string csv_field(std::string_view text);

}  // namespace regroup
