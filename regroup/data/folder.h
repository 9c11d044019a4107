#pragma once

#include <filesystem>

#include "regroup/data/dataset.h"

namespace regroup {

/// Image files in a folder a class: PATH/train/CLASS/... with PATH/test/CLASS/... (or PATH/val/CLASS/...), or
/// PATH/CLASS/... alone, of which a part becomes the test images.
///
/// Images are what ends in .jpg, .jpeg or .png, in a class's folder or further folders in it; other files are ignored,
/// as is what starts with a dot. Links to folders are followed unless they lead to where the walk has been. The classes
/// and the images of a class are in the order of the bytes of their names. A class without training images is an error:
/// left out without a word it would change the numbers of the classes behind it.
Dataset load_folder(const std::filesystem::path& folder, const DatasetInfo& info, const LoadOptions& options);

}  // namespace regroup
