#include "regroup/io/text_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "regroup/core/error.h"
#include "regroup/core/printable.h"
#include "regroup/io/byte_source.h"

namespace regroup {

std::string read_text(const std::filesystem::path& file, std::size_t max_bytes) {
  const auto source = open_bytes(file);
  constexpr std::size_t first_step = 1U << 16;
  std::string text;
  std::size_t found = 0;
  // Room is doubled as bytes arrive; one byte more than allowed tells a file that is too large.
  while (found == text.size() && found <= max_bytes) {
    text.resize(std::min(max_bytes + 1, std::max(first_step, 2 * found)));
    found += source->read(std::span(reinterpret_cast<std::uint8_t*>(text.data()), text.size()).subspan(found));
  }
  if (found > max_bytes)
    throw UserError(fmt::format("{}: more than {} bytes; is it the right file?", file.string(), max_bytes));
  text.resize(found);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  return text;
}

std::vector<std::string_view> lines(std::string_view text) {
  std::vector<std::string_view> result;
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    result.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return result;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string lowercase(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string shown(std::string_view text) {
  std::size_t bytes = std::min<std::size_t>(text.size(), 60);
  // A character of UTF-8 is not cut in two.
  while (bytes > 0 && bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return printable(text.substr(0, bytes));
}

}  // namespace regroup
