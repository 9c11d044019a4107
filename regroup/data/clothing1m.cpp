#include "regroup/data/clothing1m.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "regroup/core/error.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

constexpr int classes = 14;

NamedText read_list(const fs::path& folder, const std::string& name, const DatasetInfo& info) {
  std::error_code unreadable_is_missing;
  for (const fs::path& file : {folder / name, folder / "annotations" / name})
    if (fs::exists(file, unreadable_is_missing)) return {file.string(), read_text(file)};
  throw UserError(fmt::format("{}: there is no {}, also not in annotations/; {}", folder.string(), name, info.advice));
}

/// The photos of a list in its order; `label_of` gives a photo its labels.
template <class LabelOf>
std::vector<ListedImage> listed(const NamedText& list, const NamedText& labels, LabelOf label_of) {
  std::vector<ListedImage> images;
  each_key(list, [&](std::string_view key, std::size_t line) {
    const std::optional<ListedImage> image = label_of(key);
    if (!image) list.fail(line, fmt::format("'{}' has no label in {}", shown(key), labels.name));
    images.push_back({std::string(key), image->label, image->clean});
  });
  if (images.empty()) throw UserError(fmt::format("{}: lists no images; is it the right file?", list.name));
  return images;
}

/// Many copies have the folders 0 to 9 without the folder around them that all keys begin with.
void leave_out_images_folder(ListedImages& images) {
  constexpr std::string_view prefix = "images/";
  const auto shorten = [&](std::vector<ListedImage>& list) {
    for (ListedImage& image : list)
      if (image.path.starts_with(prefix)) image.path.erase(0, prefix.size());
  };
  shorten(images.train);
  shorten(images.validation);
  shorten(images.tests.at("test"));
}

}  // namespace

ListedImages clothing1m_images(const Clothing1mLists& lists) {
  const KeyLabels noisy(lists.noisy_labels, classes), clean(lists.clean_labels, classes);
  const auto by_words = [&](std::string_view key) -> std::optional<ListedImage> {
    const auto label = noisy.of(key);
    if (!label) return std::nullopt;
    return ListedImage{{}, *label, clean.of(key).value_or(-1)};
  };
  const auto by_people = [&](std::string_view key) -> std::optional<ListedImage> {
    const auto label = clean.of(key);
    if (!label) return std::nullopt;
    return ListedImage{{}, *label, *label};
  };
  ListedImages images;
  images.train = listed(lists.train, lists.noisy_labels, by_words);
  images.validation = listed(lists.validation, lists.clean_labels, by_people);
  images.tests.at("test") = listed(lists.test, lists.clean_labels, by_people);
  return images;
}

std::vector<std::string> clothing1m_classes(const NamedText& names) {
  std::vector<std::string> found;
  each_key(names, [&](std::string_view name, std::size_t) { found.emplace_back(name); });
  if (found.size() != classes)
    throw UserError(fmt::format("{}: has {} names; Clothing1M has {} classes, and the file a line for each", names.name,
                                found.size(), classes));
  return found;
}

Dataset load_clothing1m(const fs::path& folder, const DatasetInfo& info, const LoadOptions& options) {
  const auto read = [&](const char* name) { return read_list(folder, name, info); };
  Dataset dataset;
  dataset.name = info.name;
  dataset.labels_are_true = false;
  dataset.class_names = clothing1m_classes(read("category_names_eng.txt"));
  ListedImages images =
      clothing1m_images({read("noisy_train_key_list.txt"), read("clean_val_key_list.txt"),
                         read("clean_test_key_list.txt"), read("noisy_label_kv.txt"), read("clean_label_kv.txt")});
  if (options.only_lists) return dataset;
  std::error_code unreadable_is_missing;
  if (!fs::is_directory(folder / "images", unreadable_is_missing)) leave_out_images_folder(images);
  if (options.tell)
    options.tell(fmt::format("{}: {} training images, {} validation images, {} test images", folder.string(),
                             images.train.size(), images.validation.size(), images.tests.at("test").size()));
  load_image_files(folder, std::move(images), options, dataset);
  return dataset;
}

}  // namespace regroup
