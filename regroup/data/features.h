#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "regroup/data/dataset.h"
#include "regroup/io/csv.h"

namespace regroup {

/// What a file says about the rows of another one: one entry per row.
struct RowTable {
  std::vector<std::string> labels;
  std::vector<std::string> clean;  ///< the true labels, "" where unknown; empty without such a column; the others alike
  std::vector<std::string> paths;  ///< of image files that the rows were made of
  std::vector<std::string> texts;  ///< that the rows were made of
};

/// Reads `label[,index][,clean][,path][,text]`, one line per row, or one label per line without a header. Lines may be
/// in any order where there is an index. `rows` is how many there must be. `name` is for the messages. Throws
/// UserError.
RowTable parse_row_table(std::string_view text, const std::string& name, std::size_t rows, const Tell& tell);

/// Reads what each row was made of: a column `text`, with `index` or in the order of the rows, or a text per line.
std::vector<std::string> parse_row_texts(std::string_view text, const std::string& name, std::size_t rows);

/// The names of the classes that these labels are of: whole numbers by size, names by their bytes.
std::vector<std::string> classes_of(const std::vector<std::string>& labels);

/// Vectors that somebody has computed by a model of their own, with doubtful labels: `place` is an NPY file, whose
/// labels options.labels has, or a folder with train.npy and train.csv, and val.*, test.* and test-NAME.* where there
/// are such. A file classes.txt in the folder names the classes of labels that are numbers.
Dataset load_features(const std::filesystem::path& place, const DatasetInfo& info, const LoadOptions& options);

}  // namespace regroup
