#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "regroup/reproduce/grid.h"

namespace regroup {

/// `FILE`, or `KIND:FILE` as the value of a setting.
struct NamedFile {
  std::string kind, file;
};

/// The file that a setting names, or none. Images in folders are too many to be read by a grid: their path counts.
NamedFile named_file(std::string_view setting, const std::string& value);

/// A file that a grid names and that is not there is looked for in these folders, one after the other. What is found
/// nowhere stays as it is.
void find_named_files(Grid& grid, std::span<const std::filesystem::path> folders);

}  // namespace regroup
