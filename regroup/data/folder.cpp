#include "regroup/data/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>

#include "regroup/core/error.h"
#include "regroup/data/image_file.h"
#include "regroup/data/image_files.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_depth = 32;

bool is_folder(const fs::path& path) {
  std::error_code unreadable_is_none;
  return fs::is_directory(path, unreadable_is_none);
}

/// A link that leads nowhere counts as an image, a bad one: it stands for one that is missed.
bool is_image(const fs::path& file) {
  std::error_code no_status;
  const auto status = fs::status(file, no_status);
  return is_image_name(file) && (fs::is_regular_file(status) || !fs::exists(status));
}

/// The names in a folder that do not start with a dot, in the order of their bytes.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    auto name = entry->path().filename().string();
    if (!name.starts_with('.')) names.push_back(std::move(name));
  }
  if (error) throw UserError(fmt::format("{}: cannot be read: {}", folder.string(), error.message()));
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> folders_in(const fs::path& folder) {
  auto names = names_in(folder);
  std::erase_if(names, [&](const auto& name) { return !is_folder(folder / name); });
  return names;
}

/// Whether PATH/train is a part of the data and not a class that happens to be called train.
bool is_part(const fs::path& folder) {
  if (!is_folder(folder)) return false;
  const auto names = names_in(folder);
  return std::any_of(names.begin(), names.end(), [&](const auto& name) { return is_folder(folder / name); }) &&
         std::none_of(names.begin(), names.end(), [&](const auto& name) { return is_image(folder / name); });
}

/// Collects the images of one class.
class Walk {
 public:
  Walk(fs::path root, std::int32_t label, std::vector<ListedImage>& images)
      : root_(std::move(root)), label_(label), images_(images) {}

  /// `place` is relative to the root.
  void visit(const fs::path& place, std::size_t depth = 0) {
    const fs::path folder = root_ / place;
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    // A link to a folder around this one would bring the images of other classes in.
    if (error || holds_a_visited_one(real) || !seen_.insert(real).second) return;
    if (depth > max_depth)
      throw UserError(
          fmt::format("{}: folders within folders, {} deep; put the images higher", folder.string(), depth));
    for (const auto& name : names_in(folder)) {
      if (is_folder(folder / name)) {
        visit(place / name, depth + 1);
      } else if (is_image(folder / name)) {
        images_.push_back({(place / name).generic_string(), label_});
      }
    }
  }

 private:
  bool holds_a_visited_one(const fs::path& real) const {
    return std::any_of(seen_.begin(), seen_.end(), [&](const fs::path& seen) {
      return std::mismatch(real.begin(), real.end(), seen.begin(), seen.end()).first == real.end();
    });
  }

  fs::path root_;
  std::int32_t label_;
  std::vector<ListedImage>& images_;
  std::set<fs::path> seen_;
};

std::vector<ListedImage> images_of(const fs::path& root, const fs::path& place, std::int32_t label) {
  std::vector<ListedImage> images;
  Walk(root, label, images).visit(place);
  std::sort(images.begin(), images.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return images;
}

void append(std::vector<ListedImage>& list, std::vector<ListedImage> more) {
  std::move(more.begin(), more.end(), std::back_inserter(list));
}

std::vector<ListedImage> list_train(const fs::path& root, const fs::path& part,
                                    const std::vector<std::string>& class_names) {
  if (class_names.size() < 2) {
    throw UserError(fmt::format("{}: {} folders in it; give a place with a folder for each class, at least two",
                                (part.empty() ? root : root / part).string(), class_names.size()));
  }
  std::vector<ListedImage> list;
  std::int32_t label = 0;
  for (const auto& name : class_names) {
    auto images = images_of(root, part / name, label++);
    if (images.empty()) {
      throw UserError(
          fmt::format("{}: no JPEG or PNG files in it; fill or remove this class", (root / part / name).string()));
    }
    append(list, std::move(images));
  }
  return list;
}

std::vector<ListedImage> list_test(const fs::path& root, const fs::path& part,
                                   const std::vector<std::string>& class_names) {
  std::vector<ListedImage> list;
  for (const auto& name : folders_in(root / part)) {
    const auto found = std::lower_bound(class_names.begin(), class_names.end(), name);
    if (found == class_names.end() || *found != name)
      throw UserError(fmt::format("{}: no such class among the training images; fill train/{} or remove it",
                                  (root / part / name).string(), name));
    append(list, images_of(root, part / name, static_cast<std::int32_t>(found - class_names.begin())));
  }
  return list;
}

}  // namespace

Dataset load_folder(const fs::path& folder, const DatasetInfo& info, const LoadOptions& options) {
  if (!is_folder(folder)) throw UserError(fmt::format("{}: no such folder; {}", folder.string(), info.advice));
  Dataset dataset;
  dataset.name = info.name;
  const bool parts = is_part(folder / "train");
  const fs::path train = parts ? "train" : "";
  dataset.class_names = folders_in(folder / train);
  ListedImages images;
  images.train = list_train(folder, train, dataset.class_names);
  const char* test = is_folder(folder / "test") ? "test" : "val";
  if (parts && is_folder(folder / test)) {
    images.test = list_test(folder, test, dataset.class_names);
  } else {
    split_off_test(images, dataset.classes(), options);
  }
  load_image_files(folder, std::move(images), options, dataset);
  return dataset;
}

}  // namespace regroup
