#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "regroup/data/image.h"
#include "regroup/data/sample_source.h"

namespace regroup {

/// Samples and their labels.
struct LabelledSet {
  std::shared_ptr<const SampleSource> source;  ///< as many samples as labels
  std::vector<std::int32_t> labels;            ///< in 0 .. classes - 1
  std::vector<std::int32_t> clean;  ///< the true labels where a file says them beside the labels, -1 where it does
                                    ///< not say one; empty if it says none
  std::vector<std::string> paths;   ///< the files that the samples come from, where each has its own; else empty
  std::vector<std::string> texts;   ///< what vectors were made of, where that is known and was asked for; else empty

  std::size_t size() const { return labels.size(); }
};

/// Samples that a run is measured on, by the name that its figures go by: `test`, or `test-NAME`, where NAME has
/// letters, digits, dots and dashes.
struct TestSet {
  std::string name;
  LabelledSet set;
};

struct Dataset {
  std::string name;
  std::vector<std::string> class_names;
  LabelledSet train;
  std::vector<TestSet> tests{{"test", {}}};  ///< the first is `test`, which is always there and may be empty
  /// So many images at the end of `train` are the validation part of image files that have one. An index is a position
  /// in `train`: the training images, then the validation images.
  int validation_count = 0;
  int short_side = 0;          ///< that image files were scaled to; 0: there are none
  std::filesystem::path root;  ///< what the paths of image files are relative to
  /// Whether the labels of the training images count as true ones: so for published data that noise is made in, not for
  /// data that comes with wrong labels.
  bool labels_are_true = true;
  bool mirrored_is_same = true;  ///< whether a mirrored image still shows its class: not so for digits
  bool has_file_labels = false;  ///< whether the labels are those of LoadOptions::labels already

  const LabelledSet& test() const { return tests.front().set; }
  LabelledSet& test() { return tests.front().set; }

  int classes() const { return static_cast<int>(class_names.size()); }
};

enum class BadImage { skip, refuse };

/// Where image files are kept once they are decoded.
enum class KeepImages {
  by_size,  ///< in memory if they take at most half of it
  memory,
  disk,  ///< nowhere: they are decoded each time that they are needed
};

/// What is known about image files before they are decoded.
struct ImageSurvey {
  std::size_t train = 0, validation = 0, tests = 0;  ///< images
  int classes = 0;
  ImageSize common;  ///< the most common size of the files
  /// Some training images as samples of a side, where they would be decoded in each epoch; null where they would be in
  /// memory.
  std::function<std::shared_ptr<const SampleSource>(int side)> from_disk = {};
};

/// What loading may need to know; most datasets need nothing of it but the folder.
struct LoadOptions {
  // Every member has an initialiser, so that a caller may name only those that it sets.
  std::optional<std::filesystem::path> data_dir =
      {};              ///< where the dataset lies; without it, where its package puts it
  int image_size = 0;  ///< for image files: height and width; 0: what most images have, up to max_size
  int max_size = 224;  ///< the largest side that is chosen where no size is asked for
  /// Chooses the side where none is asked for, at most that of the files and max_size; by default the largest.
  std::function<int(const ImageSurvey&)> choose_side = {};
  int resize = 0;  ///< the shorter side that image files are scaled to; 0: image_size, or 8/7 of it for whole images
  bool whole_images = false;  ///< whether more is kept of an image file than the square in its middle
  KeepImages keep = KeepImages::by_size;
  std::filesystem::path cache = {};  ///< a folder for decoded image files; empty: none
  double cache_bytes = 20e9;         ///< that it may hold at most
  BadImage on_bad_image = BadImage::refuse;
  double test_split = 0.1;  ///< for image files without a test part: the share of each class that becomes one
  std::uint64_t seed = 0;   ///< of that split
  int threads = 1;
  std::filesystem::path labels = {};  ///< a file of labels, for data that has none of its own
  bool texts = false;                 ///< whether the texts of vectors are wanted, where there are any
  double vector_bytes = 0;            ///< of memory that vectors may take; 0: half of it
  /// For data that comes with lists of many image files: read these, and no images, to find out whether it is there.
  bool only_lists = false;
  std::function<void(std::size_t done, std::size_t total)> progress = {};  ///< called while image files are decoded
  std::function<void(const std::string& sentence)> warn = {};              ///< called for each image that is skipped
  std::function<void(const std::string& sentence)> tell = {};              ///< called for what was found and decided
};

struct DatasetInfo {
  std::string_view name;  ///< as `--data` has it; `folder` and `csv` are followed by :PATH
  std::string_view description;
  std::string_view default_folder;  ///< where a package puts it; empty if no package has it
  std::string_view advice;          ///< what to do when its files are missing
  bool takes_path;                  ///< `NAME:PATH` instead of NAME and a folder
  Dataset (*load)(const std::filesystem::path& place, const DatasetInfo& info, const LoadOptions& options);

  std::string usage() const { return std::string(name) + (takes_path ? ":PATH" : ""); }
};

/// All datasets.
std::span<const DatasetInfo> datasets();

/// Loads `fashion-mnist`, `folder:PATH`, ...: by name from `data_dir`, or from its folder in there if that has the
/// dataset's name, or, without a `data_dir`, from the default folder; or from the path that follows the name.
Dataset load_dataset(std::string_view spec, const LoadOptions& options = {});

}  // namespace regroup
