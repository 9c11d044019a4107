#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace regroup {

// What the program shows goes through here. Names of files, classes and models come from outside, and must not command
// the terminal; and a full disk behind `> file` must not go unnoticed.

/// Lines on standard output, made printable. Throws UserError where they cannot be written.
void write_out(std::string_view lines);

/// The same, formatted as by fmt::print.
template <class... Arguments>
void print_out(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write_out(fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// Data on standard output for other programs: as it is, and made printable on a terminal only.
void write_data(std::string_view data);

/// One sentence on standard error, made printable, as a line of its own.
void print_error(std::string_view sentence);

/// Standard output is written to the end, or UserError is thrown.
void finish_output();

/// Throws UserError where a file exists that may not be overwritten.
void refuse_existing(const std::filesystem::path& file, bool overwrite);

}  // namespace regroup
