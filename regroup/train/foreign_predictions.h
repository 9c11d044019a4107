#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace regroup {

/// What another tool predicts for labelled samples.
struct ForeignPredictions {
  std::vector<std::string> class_names;
  std::vector<std::int32_t> labels;
  std::vector<float> probabilities;  ///< a row per label
};

/// `probabilities` is an NPY file of floating-point numbers, samples x classes, whose rows sum to 1. `labels` is a file
/// as
/// --labels takes it (data/labels_file.h). Where its labels are names, the columns are the names in alphabetical order,
/// as scikit-learn has them. Throws UserError where they do not fit each other, or the numbers are no probabilities.
ForeignPredictions read_foreign_predictions(const std::filesystem::path& probabilities,
                                            const std::filesystem::path& labels);

}  // namespace regroup
