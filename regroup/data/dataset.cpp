#include "regroup/data/dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "regroup/core/error.h"
#include "regroup/data/mnist.h"

namespace regroup {
namespace {

constexpr std::array table{
    DatasetInfo{"fashion-mnist", "70,000 grey images of clothes, 28x28, 10 classes",
                "/usr/share/datasets/fashion-mnist", "install dataset-fashion-mnist or give --data-dir",
                load_fashion_mnist},
    DatasetInfo{"mnist", "70,000 grey images of written digits, 28x28, 10 classes", "",
                "fetch its four files and give their folder by --data-dir", load_mnist},
};

std::filesystem::path folder_of(const DatasetInfo& info, const std::optional<std::filesystem::path>& data_dir) {
  if (!data_dir) {
    if (info.default_folder.empty())
      throw UserError(fmt::format("{} has no default folder; {}", info.name, info.advice));
    return info.default_folder;
  }
  const auto inner = *data_dir / info.name;
  std::error_code unreadable_is_missing;
  return std::filesystem::is_directory(inner, unreadable_is_missing) ? inner : *data_dir;
}

}  // namespace

std::span<const DatasetInfo> datasets() { return table; }

Dataset load_dataset(std::string_view name, const std::optional<std::filesystem::path>& data_dir) {
  const auto* const info = std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.name == name; });
  if (info == table.end()) {
    std::vector<std::string_view> names;
    names.reserve(table.size());
    for (const auto& row : table) names.push_back(row.name);
    throw UserError(fmt::format("unknown dataset '{}'; known: {}", name, fmt::join(names, ", ")));
  }
  return info->load(folder_of(*info, data_dir), *info);
}

}  // namespace regroup
