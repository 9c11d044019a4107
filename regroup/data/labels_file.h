#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regroup {

/// Labels that replace those of a dataset.
struct LabelsFile {
  std::vector<std::int32_t> labels;  ///< one an image
  std::vector<std::int32_t> clean;   ///< the true labels, -1 where the file does not say one; empty if it says none
};

/// Reads the labels of `count` images, plain or gzip:
///
/// - CSV that starts with the line `index,label` or `index,label,clean`, columns and lines in any order, as `regroup
///   noise` writes it; each image has one line;
/// - one label a line, in the order of the images;
/// - NPY, one integer an image, in the order of the images.
///
/// A label is the number of a class or its name; a number is a number even if another class is called so.
LabelsFile read_labels(const std::filesystem::path& file, std::size_t count, std::span<const std::string> class_names);

/// The same from the text of one of the first two. `name` is for the messages.
LabelsFile parse_labels(std::string_view text, const std::string& name, std::size_t count,
                        std::span<const std::string> class_names);

/// Reads the positions of images whose labels are known to be right: one a line, or the column `index` of a CSV file,
/// or NPY. Ascending; each at most once and below `count`.
std::vector<std::uint32_t> read_trusted(const std::filesystem::path& file, std::size_t count);
std::vector<std::uint32_t> parse_trusted(std::string_view text, const std::string& name, std::size_t count);

}  // namespace regroup
