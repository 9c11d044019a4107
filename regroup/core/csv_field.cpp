#include "regroup/core/csv_field.h"

namespace regroup {

std::string csv_field(std::string_view text) {
  // Readers take blanks off the ends of a field without quotes.
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const bool blank_end = !text.empty() && (is_blank(text.front()) || is_blank(text.back()));
  if (!blank_end && text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += c;
    result += c;
  }
  return result + '"';
}

}  // namespace regroup
