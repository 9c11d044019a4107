#include "regroup/data/webvision.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "regroup/core/error.h"
#include "regroup/data/folder.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t classes = 50;
constexpr const char* second_test = "test-ilsvrc12";

NamedText read_list(const fs::path& folder, const std::string& name, const DatasetInfo& info) {
  const fs::path file = folder / "info" / name;
  std::error_code unreadable_is_missing;
  if (!fs::exists(file, unreadable_is_missing))
    throw UserError(fmt::format("{}: there is no info/{}; {}", folder.string(), name, info.advice));
  return {file.string(), read_text(file)};
}

/// The images of the first classes.
std::vector<ListedImage> listed(const NamedText& list, const std::string& prefix, std::size_t all_classes) {
  std::vector<ListedImage> images;
  for (const LabelledKey& one : labelled_keys(list, static_cast<int>(all_classes)))
    if (static_cast<std::size_t>(one.label) < classes) images.push_back({prefix + std::string(one.key), one.label});
  if (images.empty())
    throw UserError(
        fmt::format("{}: lists no images of the first {} classes; is it the right file?", list.name, classes));
  return images;
}

/// Whether a class of ILSVRC12 has its folder there.
bool has_class(const fs::path& validation, const Synset& synset) {
  std::error_code unreadable_is_missing;
  return fs::is_directory(validation / synset.id, unreadable_is_missing);
}

/// ILSVRC12's validation images of these classes, relative to `folder`; none where it has no folder of any.
std::vector<ListedImage> list_ilsvrc12(const fs::path& folder, std::span<const Synset> synsets) {
  const auto there = [&](const fs::path& place) {
    return std::ranges::any_of(synsets, [&](const Synset& synset) { return has_class(place, synset); });
  };
  const fs::path inner = folder / "imagenet" / "val", beside = folder / ".." / "imagenet" / "val";
  if (!there(inner) && !there(beside)) return {};
  const fs::path validation = there(inner) ? inner : beside;
  std::vector<ListedImage> images;
  for (std::size_t y = 0; y < synsets.size(); ++y) {
    if (!has_class(validation, synsets[y]))
      throw UserError(fmt::format("{}: no such folder, though other classes have one; give all {} or none",
                                  (validation / synsets[y].id).string(), synsets.size()));
    for (const std::string& file : list_images(validation / synsets[y].id))
      images.push_back({fs::path(file).lexically_relative(folder).generic_string(), static_cast<std::int32_t>(y)});
  }
  return images;
}

}  // namespace

std::vector<Synset> webvision_synsets(const NamedText& synsets) {
  std::vector<Synset> found;
  each_key(synsets, [&](std::string_view text, std::size_t line) {
    const auto blank = text.find_first_of(" \t");
    const std::string_view id = text.substr(0, blank);
    const std::string_view names = blank == std::string_view::npos ? "" : trimmed(text.substr(blank));
    const std::string_view name = trimmed(names.substr(0, names.find(',')));
    // An id is the name of a folder.
    const bool is_id =
        id.size() > 1 && id.front() == 'n' && id.substr(1).find_first_not_of("0123456789") == std::string_view::npos;
    if (!is_id || name.empty())
      synsets.fail(line,
                   fmt::format("'{}' is not a synset and its names, as in n01440764 tench, Tinca tinca", shown(text)));
    found.push_back({std::string(id), std::string(name)});
  });
  if (found.size() < classes)
    throw UserError(fmt::format("{}: lists {} classes; the first {} are needed", synsets.name, found.size(), classes));
  return found;
}

ListedImages webvision_images(const NamedText& train, const NamedText& validation, std::size_t all_classes) {
  ListedImages images;
  images.train = listed(train, "", all_classes);
  images.tests.at("test") = listed(validation, "val_images_256/", all_classes);
  return images;
}

Dataset load_webvision(const fs::path& folder, const DatasetInfo& info, const LoadOptions& options) {
  std::vector<Synset> synsets = webvision_synsets(read_list(folder, "synsets.txt", info));
  ListedImages images = webvision_images(read_list(folder, "train_filelist_google.txt", info),
                                         read_list(folder, "val_filelist.txt", info), synsets.size());
  synsets.resize(classes);
  Dataset dataset;
  dataset.name = info.name;
  dataset.labels_are_true = false;
  for (const Synset& synset : synsets) dataset.class_names.push_back(synset.name);
  if (options.only_lists) return dataset;
  std::vector<ListedImage> ilsvrc12 = list_ilsvrc12(folder, synsets);
  if (options.tell) {
    options.tell(fmt::format("{}: {} training images, {} test images", folder.string(), images.train.size(),
                             images.tests.at("test").size()));
    options.tell(ilsvrc12.empty() ? fmt::format("no {}: ILSVRC12's validation images are neither in imagenet/val/CLASS "
                                                "of that folder nor in imagenet/val/CLASS beside it",
                                                second_test)
                                  : fmt::format("{} has {} images", second_test, ilsvrc12.size()));
  }
  if (!ilsvrc12.empty()) images.tests[second_test] = std::move(ilsvrc12);
  load_image_files(folder, std::move(images), options, dataset);
  return dataset;
}

}  // namespace regroup
