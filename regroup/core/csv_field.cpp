#include "regroup/core/csv_field.h"

namespace regroup {

std::string csv_field(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  // Readers take blanks off the ends of a field without quotes.
  const bool blank_end =
      !text.empty() && (blanks.find(text.front()) != blanks.npos || blanks.find(text.back()) != blanks.npos);
  if (!blank_end && text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += c;
    result += c;
  }
  return result + '"';
}

}  // namespace regroup
