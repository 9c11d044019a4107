#include "regroup/core/file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "regroup/core/error.h"

namespace regroup {

void write_file(const std::filesystem::path& file, std::string_view content) {
  // A rename would replace a device such as /dev/null.
  if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file))
    throw UserError(fmt::format("{}: cannot be written; it is no regular file", file.string()));
  // The process number keeps two programs that write the same file out of each other's way.
  std::filesystem::path aside = file;
  aside += fmt::format(".{}.part", getpid());
  std::ofstream out(aside, std::ios::binary);
  if (!out) throw UserError(fmt::format("{}: cannot be written; does its folder exist?", file.string()));
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(aside, file, error);
  if (!out || error) {
    std::error_code ignored;
    std::filesystem::remove(aside, ignored);
    throw UserError(!out ? fmt::format("{}: could not be written to the end; is the disk full?", file.string())
                         : fmt::format("{}: cannot be written: {}", file.string(), error.message()));
  }
}

}  // namespace regroup
