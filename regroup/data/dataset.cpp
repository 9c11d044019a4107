#include "regroup/data/dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "regroup/core/error.h"
#include "regroup/data/cifar.h"
#include "regroup/data/clothing1m.h"
#include "regroup/data/csv_dataset.h"
#include "regroup/data/features.h"
#include "regroup/data/folder.h"
#include "regroup/data/mnist.h"
#include "regroup/data/webvision.h"

namespace regroup {
namespace {

constexpr std::array table{
    DatasetInfo{"fashion-mnist", "70,000 grey images of clothes, 28x28, 10 classes",
                "/usr/share/datasets/fashion-mnist", "install dataset-fashion-mnist or give --data-dir", false,
                load_fashion_mnist},
    DatasetInfo{"mnist", "70,000 grey images of written digits, 28x28, 10 classes", "",
                "fetch its four files and give their folder by --data-dir", false, load_mnist},
    DatasetInfo{"cifar10", "60,000 small photos, 32x32, 10 classes", "",
                "fetch its binary version and give the folder by --data-dir", false, load_cifar10},
    DatasetInfo{"cifar100", "60,000 small photos, 32x32, 100 classes", "",
                "fetch its binary version and give the folder by --data-dir", false, load_cifar100},
    DatasetInfo{"cifar100-coarse", "CIFAR-100 with its 20 superclasses as labels", "",
                "fetch its binary version and give the folder by --data-dir", false, load_cifar100_coarse},
    DatasetInfo{"clothing1m", "1,000,000 photos of clothes from shops, about 38 % of the labels wrong, 14 classes", "",
                "ask its authors for it and give its folder by --data-dir", false, load_clothing1m},
    DatasetInfo{"webvision", "66,000 photos that Google found, the first 50 classes of WebVision 1.0", "",
                "fetch WebVision 1.0 and give its folder by --data-dir", false, load_webvision},
    DatasetInfo{
        "folder",
        "JPEG, PNG and WebP files as CLASS/FILE, or as train/CLASS/FILE, val/CLASS/FILE and test/CLASS/FILE, and "
        "test-NAME/CLASS/FILE for more test sets",
        "", "give folder:PATH", true, load_folder},
    DatasetInfo{"csv", "JPEG, PNG and WebP files that a CSV file lists as path,label[,clean][,split]", "",
                "give csv:FILE", true, load_csv},
    DatasetInfo{"features",
                "vectors that a model of your own made: an NPY file, with --labels, or a folder with train.npy and "
                "train.csv, and val.* and test.* where there are such",
                "", "give features:PATH", true, load_features},
};

const DatasetInfo& find_dataset(std::string_view name) {
  const auto* const info = std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.name == name; });
  if (info == table.end()) {
    std::vector<std::string> names;
    names.reserve(table.size());
    for (const auto& row : table) names.push_back(row.usage());
    throw UserError(fmt::format("unknown dataset '{}'; known: {}", name, fmt::join(names, ", ")));
  }
  return *info;
}

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

Dataset load_dataset(std::string_view spec, const LoadOptions& options) {
  const auto colon = spec.find(':');
  const DatasetInfo& info = find_dataset(spec.substr(0, colon));
  if (!info.takes_path) {
    if (colon != std::string_view::npos)
      throw UserError(fmt::format("{} takes no path; give its folder by --data-dir", info.name));
    return info.load(folder_of(info, options.data_dir), info, options);
  }
  if (colon == std::string_view::npos || colon + 1 == spec.size())
    throw UserError(fmt::format("{} needs a path; {}", info.name, info.advice));
  if (options.data_dir) throw UserError(fmt::format("{} brings its own path; leave out --data-dir", spec));
  return info.load(std::filesystem::path(spec.substr(colon + 1)), info, options);
}

}  // namespace regroup
