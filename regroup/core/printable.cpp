#include "regroup/core/printable.h"

#include <cstddef>
#include <cstdint>

namespace regroup {
namespace {

/// The bytes of the UTF-8 character that the text begins with, and its number; 0 bytes where there is none.
struct Character {
  std::size_t bytes = 0;
  std::uint32_t number = 0;
};

Character first_character(std::string_view text) {
  const auto lead = static_cast<std::uint8_t>(text.front());
  if (lead < 0x80) return {1, lead};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc0 || lead > 0xf7 || text.size() < bytes) return {};
  std::uint32_t number = lead & (0x7fU >> bytes);
  for (const char c : text.substr(1, bytes - 1)) {
    const auto byte = static_cast<std::uint8_t>(c);
    if ((byte & 0xc0) != 0x80) return {};
    number = number << 6 | (byte & 0x3f);
  }
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = number >= 0xd800 && number <= 0xdfff;
  if (number < smallest[bytes] || number > 0x10ffff || is_surrogate) return {};
  return {bytes, number};
}

bool is_harmless(std::uint32_t number) {
  const auto between = [number](std::uint32_t first, std::uint32_t last) { return number >= first && number <= last; };
  const bool is_control = number < 0x20 || between(0x7f, 0x9f);
  const bool turns_direction = between(0x202a, 0x202e) || between(0x2066, 0x2069);
  return !is_control && !turns_direction;
}

std::string cleaned(std::string_view text, std::string_view kept) {
  std::string result;
  while (!text.empty()) {
    const Character character = first_character(text);
    const std::string_view bytes = text.substr(0, character.bytes);
    const bool stays =
        character.bytes > 0 && (is_harmless(character.number) || kept.find(bytes) != std::string_view::npos);
    result += stays ? bytes : "\xEF\xBF\xBD";
    text.remove_prefix(character.bytes > 0 ? character.bytes : 1);
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) { return cleaned(text, ""); }

std::string printable_lines(std::string_view text) { return cleaned(text, "\n\t"); }

}  // namespace regroup
