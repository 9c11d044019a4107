#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "regroup/data/dataset.h"

namespace regroup {

/// Image files in a folder a class: PATH/train/CLASS/... with PATH/val/CLASS/..., PATH/test/CLASS/... and
/// PATH/test-NAME/CLASS/..., or PATH/CLASS/... alone. `part_called` has the other names of the parts. The images of
/// val/ become the validation images; without test/, a part of the training images becomes the test images. Each
/// test-NAME/ is one more test set.
///
/// Images are what ends in .jpg, .jpeg, .png or .webp, in a class's folder or further folders in it; other files are
/// counted and told, what starts with a dot is ignored. Links to folders are followed unless they lead to where the
/// walk has been. The classes and the images of a class are in the order of the bytes of their names, which need not be
/// UTF-8. A class without training images is an error: left out without a word it would change the numbers of the
/// classes behind it.
Dataset load_folder(const std::filesystem::path& folder, const DatasetInfo& info, const LoadOptions& options);

/// The image files in a folder and the folders in it, found in the same way, in the order of the bytes of their names;
/// none is an error. What is no folder is a file, given back as it is.
std::vector<std::string> list_images(const std::filesystem::path& path);

}  // namespace regroup
