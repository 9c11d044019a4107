#include "regroup/reproduce/named_files.h"

#include <system_error>

namespace regroup {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

void find_files(std::vector<GivenValue>& values, std::span<const fs::path> folders) {
  for (GivenValue& given : values) {
    auto* const text = std::get_if<std::string>(&given.value);
    const NamedFile named = text != nullptr ? named_file(given.name, *text) : NamedFile{};
    if (named.file.empty() || is_file(named.file)) continue;
    for (const fs::path& folder : folders) {
      const fs::path found = fs::absolute(folder / named.file);
      if (!is_file(found)) continue;
      *text = named.kind + found.string();
      break;
    }
  }
}

}  // namespace

NamedFile named_file(std::string_view setting, const std::string& value) {
  if (setting == "init-weights" || setting == "ce-weights" || setting == "labels" || setting == "trusted")
    return {"", value};
  for (const std::string kind : {"csv:", "matrix:"})
    if ((setting == "data" || setting == "noise") && value.starts_with(kind)) return {kind, value.substr(kind.size())};
  return {};
}

void find_named_files(Grid& grid, std::span<const fs::path> folders) {
  find_files(grid.values, folders);
  for (GridBlock& block : grid.blocks) {
    find_files(block.values, folders);
    for (GridColumn& column : block.columns) find_files(column.values, folders);
    for (GridRow& row : block.rows) find_files(row.values, folders);
  }
}

}  // namespace regroup
