#pragma once

#include <span>
#include <string>
#include <vector>

namespace regroup {

/// Columns for a terminal, two spaces apart; a column of nothing but numbers is aligned at the right. A row may be
/// shorter than the header, not longer.
std::string text_table(const std::vector<std::string>& header, std::span<const std::vector<std::string>> rows);

}  // namespace regroup
