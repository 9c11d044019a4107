#include "regroup/data/folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "regroup/core/error.h"
#include "regroup/data/image_file.h"
#include "regroup/data/image_files.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_depth = 32;

/// What stands behind a name. A link in a circle leads to nothing.
fs::file_type type_of(const fs::path& path) {
  std::error_code error;
  const auto type = fs::status(path, error).type();
  if (type == fs::file_type::none && error != std::errc::too_many_symbolic_link_levels)
    throw UserError(fmt::format("{}: cannot be read: {}", path.string(), error.message()));
  return type;
}

bool is_folder(const fs::path& path) { return type_of(path) == fs::file_type::directory; }

/// A link that leads nowhere counts as an image, a bad one: it stands for one that is missed.
bool is_image(const fs::path& file) {
  const auto type = type_of(file);
  return is_image_name(file) &&
         (type == fs::file_type::regular || type == fs::file_type::not_found || type == fs::file_type::none);
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

/// What is in a folder and the folders in it.
struct Found {
  std::vector<std::string> images;
  std::map<std::string, std::size_t> others;  ///< how many other files there are of each ending
};

class Walk {
 public:
  explicit Walk(fs::path root) : root_(std::move(root)) {}

  /// Collects what is in `place`, a folder relative to the root, as are the images.
  void visit(const fs::path& place, std::size_t depth = 0) {
    const fs::path folder = root_ / place;
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    if (error) throw UserError(fmt::format("{}: cannot be read: {}", folder.string(), error.message()));
    // A link to a folder around this one would bring the images of other classes in.
    if (holds_a_visited_one(real) || !seen_.insert(real).second) return;
    if (depth > max_depth)
      throw UserError(
          fmt::format("{}: folders within folders, {} deep; put the images higher", folder.string(), depth));
    for (const auto& name : names_in(folder)) {
      if (is_folder(folder / name)) {
        visit(place / name, depth + 1);
      } else if (is_image(folder / name)) {
        found_.images.push_back((place / name).generic_string());
      } else if (type_of(folder / name) == fs::file_type::regular) {
        const std::string ending = lowercase(fs::path(name).extension().string());
        ++found_.others[ending.empty() ? "without ending" : ending];
      }
    }
  }

  Found found() && {
    std::sort(found_.images.begin(), found_.images.end());
    return std::move(found_);
  }

 private:
  bool holds_a_visited_one(const fs::path& real) const {
    return std::any_of(seen_.begin(), seen_.end(), [&](const fs::path& seen) {
      return std::mismatch(real.begin(), real.end(), seen.begin(), seen.end()).first == real.end();
    });
  }

  fs::path root_;
  Found found_;
  std::set<fs::path> seen_;
};

Found find_in(const fs::path& root, const fs::path& place) {
  Walk walk(root);
  walk.visit(place);
  return std::move(walk).found();
}

/// 10 .gif, 2 .txt: the most frequent first.
std::string counted(const std::map<std::string, std::size_t>& endings) {
  std::vector<std::pair<std::string, std::size_t>> sorted(endings.begin(), endings.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  constexpr std::size_t most_named = 5;
  std::vector<std::string> words;
  std::size_t rest = 0;
  for (const auto& [ending, count] : sorted) {
    if (words.size() < most_named) {
      words.push_back(fmt::format("{} {}", count, ending));
    } else {
      rest += count;
    }
  }
  if (rest > 0) words.push_back(fmt::format("{} others", rest));
  return fmt::format("{}", fmt::join(words, ", "));
}

/// The folder of each part that there is; none where the classes are not in parts.
using PartFolders = std::map<std::string, std::string>;

PartFolders find_parts(const fs::path& root) {
  const auto names = folders_in(root);
  const auto is_train = [&](const auto& name) { return part_called(name) == "train" && is_part(root / name); };
  if (std::none_of(names.begin(), names.end(), is_train)) {
    if (names.size() > 1 && std::all_of(names.begin(), names.end(), part_called))
      throw UserError(fmt::format("{}: {} are parts of the data; put the images of each into folders of their classes",
                                  root.string(), fmt::join(names, ", ")));
    return {};
  }
  PartFolders folders;
  for (const auto& name : names) {
    const auto part = part_called(name);
    if (!part && lowercase(name).starts_with("test-"))
      throw UserError(
          fmt::format("{}: the name of a test set is test- and letters, digits, dots and dashes, at most "
                      "64 in all; rename it",
                      (root / name).string()));
    if (!part || (part == "train" && !is_train(name))) continue;
    const auto [place, is_new] = folders.emplace(*part, name);
    if (!is_new)
      throw UserError(fmt::format("{}: {}/ and {}/ are names of the same part; keep one of them", root.string(),
                                  place->second, name));
  }
  return folders;
}

/// Lists the images of the classes, and counts the other files.
class Lister {
 public:
  Lister(fs::path root, fs::path train) : root_(std::move(root)), train_(std::move(train)) {
    class_names_ = folders_in(root_ / train_);
    if (class_names_.size() < 2) {
      throw UserError(fmt::format("{}: {} in it; give a place with a folder for each class, at least two",
                                  (train_.empty() ? root_ : root_ / train_).string(),
                                  class_names_.empty() ? "no folder is" : "one folder is"));
    }
  }

  const std::vector<std::string>& class_names() const { return class_names_; }
  const std::map<std::string, std::size_t>& others() const { return others_; }

  std::vector<ListedImage> list_train() {
    std::vector<ListedImage> list;
    for (std::size_t y = 0; y < class_names_.size(); ++y) {
      const fs::path place = train_ / class_names_[y];
      const Found found = add_class(place, y, list);
      if (!found.images.empty()) continue;
      const std::string folder = (root_ / place).string();
      if (found.others.empty())
        throw UserError(fmt::format("{}: no JPEG, PNG or WebP files in it; fill or remove this class", folder));
      throw UserError(fmt::format("{}: it has {} but no JPEG, PNG or WebP files; convert them or remove this class",
                                  folder, counted(found.others)));
    }
    return list;
  }

  /// Of the validation or the test part, which has no classes of its own.
  std::vector<ListedImage> list_part(const std::string& part) {
    std::vector<ListedImage> list;
    for (const auto& name : folders_in(root_ / part)) {
      const auto found = std::lower_bound(class_names_.begin(), class_names_.end(), name);
      if (found == class_names_.end() || *found != name)
        throw UserError(fmt::format("{}: no such class among the training images; fill {} or remove it",
                                    (root_ / part / name).string(), (train_ / name).string()));
      add_class(fs::path(part) / name, static_cast<std::size_t>(found - class_names_.begin()), list);
    }
    if (list.empty())
      throw UserError(
          fmt::format("{}: no images in folders of classes; fill or remove this part", (root_ / part).string()));
    return list;
  }

 private:
  Found add_class(const fs::path& place, std::size_t label, std::vector<ListedImage>& list) {
    Found found = find_in(root_, place);
    for (const auto& image : found.images) list.push_back({image, static_cast<std::int32_t>(label)});
    for (const auto& [ending, count] : found.others) others_[ending] += count;
    return found;
  }

  fs::path root_, train_;
  std::vector<std::string> class_names_;
  std::map<std::string, std::size_t> others_;
};

void tell_what_was_found(const fs::path& root, const Lister& lister, const PartFolders& parts,
                         const ListedImages& images, const LoadOptions& options) {
  if (!options.tell) return;
  std::string sentence = fmt::format("{}: {} classes; ", root.string(), lister.class_names().size());
  const auto tell_part = [&](const std::string& part, std::size_t count) {
    if (parts.contains(part)) sentence += fmt::format(", {}/ {}", parts.at(part), count);
  };
  if (parts.contains("train")) sentence += parts.at("train") + "/ ";
  sentence += fmt::format("{} images", images.train.size());
  tell_part("val", images.validation.size());
  for (const auto& [name, list] : images.tests) tell_part(name, list.size());
  options.tell(sentence);
  std::size_t others = 0;
  for (const auto& [ending, count] : lister.others()) others += count;
  if (others > 0) {
    options.tell(fmt::format("{} no JPEG, PNG or WebP and left out: {}",
                             others == 1 ? "1 file is" : fmt::format("{} files are", others),
                             counted(lister.others())));
  }
}

}  // namespace

std::vector<std::string> list_images(const fs::path& path) {
  std::error_code error;
  if (fs::status(path, error).type() == fs::file_type::none)
    throw UserError(fmt::format("{}: cannot be read: {}", path.string(), error.message()));
  if (!is_folder(path)) return {path.string()};
  std::vector<std::string> files = find_in(path, "").images;
  if (files.empty()) throw UserError(fmt::format("{}: no JPEG, PNG or WebP files in it", path.string()));
  for (auto& file : files) file = (path / file).string();
  return files;
}

Dataset load_folder(const fs::path& folder, const DatasetInfo& info, const LoadOptions& options) {
  if (!is_folder(folder)) throw UserError(fmt::format("{}: no such folder; {}", folder.string(), info.advice));
  const PartFolders parts = find_parts(folder);
  Lister lister(folder, parts.contains("train") ? parts.at("train") : "");
  ListedImages images;
  images.train = lister.list_train();
  for (const auto& [part, name] : parts) {
    if (part != "train") images.of(part) = lister.list_part(name);
  }
  tell_what_was_found(folder, lister, parts, images, options);
  Dataset dataset;
  dataset.name = info.name;
  dataset.labels_are_true = false;
  dataset.class_names = lister.class_names();
  if (!parts.contains("test")) split_off_test(images, dataset.classes(), options);
  load_image_files(folder, std::move(images), options, dataset);
  return dataset;
}

}  // namespace regroup
