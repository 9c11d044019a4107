#pragma once

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace regroup {

/// No TOML file of ours comes near either.
inline constexpr std::size_t max_toml_bytes = std::size_t{1} << 20;
inline constexpr int max_toml_depth = 16;

/// Parses a TOML text from outside. `name` is for the messages. Throws UserError, also where the text is larger or
/// nests deeper than that: the parser follows and frees what nests by calling itself, and would use up the stack.
toml::table parse_toml(std::string_view text, const std::string& name);

}  // namespace regroup
