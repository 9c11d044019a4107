#include "output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "regroup/core/error.h"
#include "regroup/core/file.h"
#include "regroup/core/printable.h"

namespace regroup {
namespace {

void check_output(bool is_written) {
  if (!is_written)
    throw UserError(fmt::format("standard output could not be written: {}", std::generic_category().message(errno)));
}

void write_bytes(std::string_view text) {
  check_output(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

}  // namespace

void write_out(std::string_view lines) { write_bytes(printable_lines(lines)); }

void write_data(std::string_view data) { isatty(STDOUT_FILENO) == 1 ? write_out(data) : write_bytes(data); }

void print_error(std::string_view sentence) {
  // Where this cannot be written either, there is nobody to tell.
  std::fputs((printable(sentence) + "\n").c_str(), stderr);
}

void finish_output() { check_output(std::fflush(stdout) == 0 && std::ferror(stdout) == 0); }

void refuse_existing(const std::filesystem::path& file, bool overwrite) {
  if (would_replace(file) && !overwrite)
    throw UserError(fmt::format("{} exists; choose another name or give --overwrite", file.string()));
}

}  // namespace regroup
