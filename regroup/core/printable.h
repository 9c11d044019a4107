#pragma once

#include <string>
#include <string_view>

namespace regroup {

/// A text that may come from outside (a file's name, a class's, a model's), safe to show on a terminal and in one line:
/// control characters, characters that turn the direction of writing, and bytes that are not UTF-8 become U+FFFD.
std::string printable(std::string_view text);

/// The same for a text of several lines: line ends and tabs stay.
std::string printable_lines(std::string_view text);

}  // namespace regroup
