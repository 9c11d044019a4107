#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "regroup/data/dataset.h"
#include "regroup/io/csv.h"

namespace regroup {

/// Labels that replace those of a dataset.
struct LabelsFile {
  std::vector<std::int32_t> labels;  ///< one per image
  std::vector<std::int32_t> clean;   ///< the true labels, -1 where the file does not say one; empty if it says none
};

/// Reads the labels of the training images of a dataset (and of its validation images, which are behind them), plain or
/// gzip, also from a pipe:
///
/// - CSV whose first line names the columns `index` or `path` or both, `label` and maybe `clean`, columns and lines in
///   any order (see `find_columns`), as `regroup noise` and runs write it; each image has one line;
/// - one label per line, in the order of the images;
/// - NPY, one integer an image, in the order of the images.
///
/// A path is one of LabelledSet::paths. Where there are both, the index counts, and the path must be that of the image.
/// A label is the number of a class or its name; a number is a number even if another class is called so.
LabelsFile read_labels(const std::filesystem::path& file, const Dataset& dataset, const Tell& tell = {});

/// The same from the text of one of the first two. `name` is for the messages.
LabelsFile parse_labels(std::string_view text, const std::string& name, const Dataset& dataset, const Tell& tell = {});

/// Such a CSV file: `index,label[,clean][,path]`, a line per image. `clean` is -1 where it is unknown; it and `paths`
/// are empty where there are none.
std::string labels_csv(std::span<const std::int32_t> labels, std::span<const std::int32_t> clean,
                       std::span<const std::string> paths);

/// Reads which training images have labels that are known to be right: an index or a path per line, or a CSV file with
/// a column `index` or `path` or both, or NPY with indexes. Ascending; each at most once. A file that names
/// its columns may list none.
std::vector<std::uint32_t> read_trusted(const std::filesystem::path& file, const Dataset& dataset,
                                        const Tell& tell = {});
std::vector<std::uint32_t> parse_trusted(std::string_view text, const std::string& name, const Dataset& dataset,
                                         const Tell& tell = {});

}  // namespace regroup
