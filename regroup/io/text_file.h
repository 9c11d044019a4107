#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regroup {

/// No text file that is read whole may be larger: 1 GiB.
inline constexpr std::size_t max_text_bytes = std::size_t{1} << 30;

/// The text of a file, unpacked if it is a gzip file, without a byte order mark. Throws UserError.
std::string read_text(const std::filesystem::path& file, std::size_t max_bytes = max_text_bytes);

/// The lines of a text, without their ends (\n or \r\n). What follows the last \n is a line unless it is empty.
std::vector<std::string_view> lines(std::string_view text);

/// Without blanks and tabs (and \r) at both ends.
std::string_view trimmed(std::string_view text);

/// With small letters a to z in place of capitals.
std::string lowercase(std::string_view text);

/// The number, if the text is a whole number in decimal digits, maybe with a minus, and nothing else.
std::optional<std::int64_t> whole_number(std::string_view text);

/// Text for a message, printable: its beginning, if a file that is not what it should be has a long one.
std::string shown(std::string_view text);

}  // namespace regroup
