#include "regroup/report/text_table.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace regroup {
namespace {

/// Characters, not bytes.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// 12, -0.5, 1e-3, 93.1%, 0:35, 2.1x, 93.1 ± 0.2; and what stands for no number.
bool is_number(std::string_view text) {
  constexpr std::string_view allowed = "+-.,:%eExs \xc2\xb1";
  if (text.empty() || text == "-") return true;
  return std::ranges::any_of(text, is_digit) &&
         std::ranges::all_of(text, [&](char c) { return is_digit(c) || allowed.find(c) != std::string_view::npos; });
}

}  // namespace

std::string text_table(const std::vector<std::string>& header, std::span<const std::vector<std::string>> rows) {
  std::vector<std::size_t> widths(header.size());
  std::ranges::transform(header, widths.begin(), width);
  std::vector<bool> is_numeric(header.size(), true);
  for (const auto& row : rows) {
    if (row.size() > header.size()) throw std::invalid_argument("text_table: a row is longer than the header");
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width(row[i]));
      if (!is_number(row[i])) is_numeric[i] = false;
    }
  }

  std::string text;
  const auto add = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - width(row[i]), ' ');
      line += (i == 0 ? "" : "  ") + (is_numeric[i] ? space + row[i] : row[i] + space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  add(header);
  for (const auto& row : rows) add(row);
  return text;
}

}  // namespace regroup
