#include "regroup/io/toml_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "regroup/core/error.h"

namespace regroup {
namespace {

/// Where the text continues behind the string that starts with the quote at `start`; at its end, where the parser will
/// find that the string is not closed.
std::size_t behind_string(std::string_view text, std::size_t start) {
  const char quote = text[start];
  const std::string three(3, quote);
  const bool has_lines = text.substr(start, 3) == three;
  const std::string_view closing = std::string_view(three).substr(0, has_lines ? 3 : 1);
  std::size_t at = start + closing.size();
  while (at < text.size() && text.substr(at, closing.size()) != closing) {
    if (text[at] == '\n' && !has_lines) return text.size();
    at += text[at] == '\\' && quote == '"' ? 2 : 1;
  }
  at += closing.size();
  // Two more quotes may stand before the closing ones.
  for (int more = 0; more < 2 && has_lines && at < text.size() && text[at] == quote; ++more) ++at;
  return std::min(at, text.size());
}

/// Keys nest by their dots, values by their brackets. Numbers have a dot too, but never many.
void check_depth(std::string_view text, const std::string& name) {
  int dots = 0, brackets = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = behind_string(text, at);
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) dots = 0;
    dots += c == '.' ? 1 : 0;
    brackets += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (std::max(dots, brackets) > max_toml_depth)
      throw UserError(fmt::format("{}, line {}: nests deeper than {} levels; is it the right file?", name,
                                  1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'),
                                  max_toml_depth));
    ++at;
  }
}

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& name) {
  if (text.size() > max_toml_bytes)
    throw UserError(fmt::format("{}: more than {} bytes; is it the right file?", name, max_toml_bytes));
  check_depth(text, name);
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    throw UserError(
        fmt::format("{}, line {}: {}; write name = value", name, error.source().begin.line, error.description()));
  }
}

}  // namespace regroup
