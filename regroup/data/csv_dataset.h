#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "regroup/data/dataset.h"
#include "regroup/data/image_files.h"
#include "regroup/io/csv.h"

namespace regroup {

/// Image files that a CSV file lists. Its first line names the columns, in any order (see `find_columns`):
///
///   path   the image file, relative to the folder of the CSV file
///   label  the name of a class; or, if these are the numbers 0 .. C - 1 and each occurs, its number
///   clean  may be missing: the true label, where it is known
///   split  may be missing: train, val, test or test-NAME, or as `part_called` has them
///
/// The classes are the labels of the training images, in the order of their bytes. Without test images a part of the
/// training images becomes some.
Dataset load_csv(const std::filesystem::path& file, const DatasetInfo& info, const LoadOptions& options);

/// What such a text says. `name` is for the messages.
struct Manifest {
  std::vector<std::string> class_names;
  ListedImages images;
};
Manifest parse_manifest(std::string_view text, const std::string& name, const Tell& tell = {});

}  // namespace regroup
