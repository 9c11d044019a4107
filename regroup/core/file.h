#pragma once

#include <filesystem>
#include <string_view>

namespace regroup {

/// Writes a file whole or not at all: aside in the same folder first, then renamed over what was there. Throws
/// UserError.
void write_file(const std::filesystem::path& file, std::string_view content);

}  // namespace regroup
