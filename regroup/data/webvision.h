#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "regroup/data/dataset.h"
#include "regroup/data/image_files.h"
#include "regroup/data/key_lists.h"

namespace regroup {

/// The first 50 classes of WebVision 1.0 (Li et al. 2017), of the images that Google found: what papers on noisy labels
/// call WebVision, or mini-WebVision.
///
///   info/train_filelist_google.txt    `google/q0001/NAME.jpg LABEL`, paths in the folder
///   info/val_filelist.txt             `NAME.jpg LABEL`, files in val_images_256/
///   info/synsets.txt                  `n01440764 tench, Tinca tinca`, a class per line
///
/// The validation images are the test images. ILSVRC12's validation images of the same classes are the test set
/// `test-ilsvrc12`: imagenet/val/n01440764/NAME.JPEG in the folder or beside it. Without them that test set is left
/// out, which is told.
Dataset load_webvision(const std::filesystem::path& folder, const DatasetInfo& info, const LoadOptions& options);

/// A class as ImageNet has it.
struct Synset {
  std::string id;    ///< n01440764
  std::string name;  ///< tench: the first of its names
};

/// All classes of such a list; fewer than 50 are a UserError.
std::vector<Synset> webvision_synsets(const NamedText& synsets);

/// The training and the test images of the first 50 of so many classes.
ListedImages webvision_images(const NamedText& train, const NamedText& validation, std::size_t all_classes);

}  // namespace regroup
