#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "regroup/data/dataset.h"
#include "regroup/data/image_file.h"

namespace regroup {

/// A file that holds an image, and its label.
struct ListedImage {
  std::string path;
  std::int32_t label = 0;
  std::int32_t clean = -1;  ///< the true label; -1: unknown
};

/// The part that a folder or a CSV file calls so, in any case: `train` for train and training; `val` for val, valid,
/// validation and dev; `test` for test and testing; `test-NAME` for itself, as TestSet has it.
std::optional<std::string> part_called(std::string_view name);

struct ListedImages {
  std::vector<ListedImage> train;
  std::vector<ListedImage> validation;
  std::map<std::string, std::vector<ListedImage>> tests{{"test", {}}};  ///< by name; `test` is always there

  std::vector<ListedImage>& of(const std::string& part) {
    return part == "train" ? train : part == "val" ? validation : tests[part];
  }
};

/// For data without a test part: moves the share options.test_split of each label from the training images to the test
/// images, and tells it.
void split_off_test(ListedImages& images, int classes, const LoadOptions& options);

/// Makes samples of image files, whose paths are relative to `root`: RGB, all of one size for networks. The headers of
/// the files settle that size. Then they are read into memory, one after the other, or left on disk where they would
/// take too much of it. Fills train, with the validation images at its end, and tests of the dataset; that there are
/// training images, but none can be read, is an error. Classes with few images are told if the dataset has its class
/// names already.
void load_image_files(const std::filesystem::path& root, ListedImages images, const LoadOptions& options,
                      Dataset& dataset);

/// Names the classes with hardly any training samples, in one sentence.
void tell_small_classes(const Dataset& dataset, const LoadOptions& options);

/// The height and width that images of these sizes get if none is asked for: the shorter side of the most common size
/// (of several the largest), at least 28 and at most `max_side`.
int choose_size(std::span<const ImageSize> sizes, int max_side);

}  // namespace regroup
