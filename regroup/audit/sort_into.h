#pragma once

#include <filesystem>

#include "regroup/audit/audit.h"

namespace regroup {

enum class SortBy { copy, link };

/// Puts the image files of suspects into FOLDER/GIVEN/SUGGESTED/, the files themselves staying where they are: copies,
/// or links to them. Paths of the audit are relative to `root`. A file that is there already is a UserError: nothing is
/// overwritten. Returns how many there are.
std::size_t sort_into(const Audit& audit, const std::filesystem::path& root, const std::filesystem::path& folder,
                      SortBy by);

}  // namespace regroup
