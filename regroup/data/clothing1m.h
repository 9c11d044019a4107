#pragma once

#include <filesystem>

#include "regroup/data/dataset.h"
#include "regroup/data/image_files.h"
#include "regroup/data/key_lists.h"

namespace regroup {

/// Clothing1M (Xiao et al., CVPR 2015) as its authors hand it out: a million photos from shops, 14 classes, labels
/// taken from the words around the photos, of which about 38 % are wrong.
///
///   images/0/ .. images/9/      the photos; or 0/ .. 9/ without images/
///   noisy_train_key_list.txt    the training photos, a path per line
///   clean_val_key_list.txt      the validation photos
///   clean_test_key_list.txt     the test photos
///   noisy_label_kv.txt          `PATH LABEL` by the words around a photo
///   clean_label_kv.txt          `PATH LABEL` by people
///   category_names_eng.txt      the names of the classes
///
/// The text files may also lie in annotations/. Training photos have their noisy labels, and the true ones where
/// people have given them; validation and test photos have those of people.
Dataset load_clothing1m(const std::filesystem::path& folder, const DatasetInfo& info, const LoadOptions& options);

struct Clothing1mLists {
  NamedText train, validation, test, noisy_labels, clean_labels;
};

/// What these lists say.
ListedImages clothing1m_images(const Clothing1mLists& lists);

/// The names of the 14 classes, one per line.
std::vector<std::string> clothing1m_classes(const NamedText& names);

}  // namespace regroup
