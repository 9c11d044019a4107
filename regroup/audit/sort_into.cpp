#include "regroup/audit/sort_into.h"

#include <fmt/format.h>

#include <algorithm>

#include "regroup/core/error.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

/// The name of a class as the name of a folder: one level, and none that is hidden or leads elsewhere.
std::string folder_name(std::string name) {
  std::ranges::replace(name, '/', '_');
  return name.empty() || name.front() == '.' ? "_" + name : name;
}

}  // namespace

std::size_t sort_into(const Audit& audit, const fs::path& root, const fs::path& folder, SortBy by) {
  if (fs::exists(folder) && !fs::is_empty(folder))
    throw UserError(fmt::format("{}: is not empty; name a new folder", folder.string()));
  std::size_t sorted = 0;
  for (const std::uint32_t i : audit.worst_first()) {
    const AuditedSample& sample = audit.samples[i];
    if (!sample.is_issue()) break;
    if (sample.path.empty())
      throw UserError("the images of this run are no files of their own, so they cannot be sorted into folders");
    const auto name = [&](std::int32_t y) { return folder_name(audit.class_names[static_cast<std::size_t>(y)]); };
    const fs::path place = folder / name(sample.given) / name(sample.belief.other);
    fs::create_directories(place);
    // Files of several folders may have the same name.
    const fs::path from = root / sample.path;
    const fs::path to = place / fmt::format("{:06d}-{}", sample.index, from.filename().string());
    try {
      if (by == SortBy::link) {
        fs::create_symlink(fs::absolute(from), to);
      } else {
        fs::copy_file(from, to);
      }
    } catch (const fs::filesystem_error& error) {
      throw UserError(
          fmt::format("{}: cannot be put into {}: {}", from.string(), place.string(), error.code().message()));
    }
    ++sorted;
  }
  return sorted;
}

}  // namespace regroup
