#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regroup {

/// Images of one size and their labels.
struct ImageSet {
  int count = 0;
  int channels = 0;
  int height = 0;
  int width = 0;
  std::vector<std::uint8_t> pixels;  ///< image by image, row by row, the channels of a pixel side by side
  std::vector<std::int32_t> labels;  ///< one an image, in 0 .. classes - 1
};

struct Dataset {
  std::string name;
  std::vector<std::string> class_names;
  ImageSet train;
  ImageSet test;

  int classes() const { return static_cast<int>(class_names.size()); }
};

struct DatasetInfo {
  std::string_view name;
  std::string_view description;
  std::string_view default_folder;  ///< where a package puts it; empty if no package has it
  std::string_view advice;          ///< what to do when its files are missing
  Dataset (*load)(const std::filesystem::path& folder, const DatasetInfo& info);
};

/// All datasets.
std::span<const DatasetInfo> datasets();

/// Loads a dataset by name from `data_dir`, or from its folder in there if that has the dataset's name, or, without a
/// `data_dir`, from the default folder.
Dataset load_dataset(std::string_view name, const std::optional<std::filesystem::path>& data_dir);

}  // namespace regroup
