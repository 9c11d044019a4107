#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace regroup {

/// A larger file is refused: 1 GiB.
inline constexpr std::uintmax_t max_image_file_bytes = std::uintmax_t{1} << 30;

/// Reads the bytes of a regular file from `begin` on, at most `count`, and returns the size of the file. The vector
/// keeps its memory. Throws UserError.
std::uintmax_t read_bytes(const std::filesystem::path& file, std::uintmax_t begin, std::uintmax_t count,
                          std::vector<std::uint8_t>& bytes);

}  // namespace regroup
