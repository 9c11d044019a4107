#include "regroup/data/labels_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "regroup/core/error.h"
#include "regroup/data/array_file.h"
#include "regroup/io/csv.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

/// From the label in a file to the number of its class.
class Classes {
 public:
  explicit Classes(std::span<const std::string> names) : count_(static_cast<std::int64_t>(names.size())) {
    for (const auto& name : names) numbers_.emplace(name, static_cast<std::int32_t>(numbers_.size()));
  }

  bool has(std::int64_t number) const { return number >= 0 && number < count_; }
  std::int64_t last() const { return count_ - 1; }

  std::int32_t number_of(const CsvReader& reader, const std::string& label) const {
    if (const auto number = whole_number(label)) {
      if (has(*number)) return static_cast<std::int32_t>(*number);
    }
    const auto found = numbers_.find(label);
    if (found == numbers_.end())
      reader.fail(
          fmt::format("label '{}' is neither a number from 0 to {} nor the name of a class", shown(label), last()));
    return found->second;
  }

 private:
  std::int64_t count_;
  std::map<std::string_view, std::int32_t> numbers_;
};

std::size_t image_count(const Dataset& dataset) {
  const std::size_t count = dataset.train.labels.size();
  if (count == 0 || count > std::numeric_limits<std::uint32_t>::max())
    throw std::invalid_argument("labels file: no images, or too many");
  return count;
}

/// Two ways to write a path are one: ./a//b.png is a/b.png.
std::string plain_path(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().generic_string();
}

/// From what a file calls an image to its position.
class Images {
 public:
  explicit Images(const Dataset& dataset) : count_(image_count(dataset)), paths_(dataset.train.paths) {}

  std::size_t count() const { return count_; }
  bool have_paths() const { return !paths_.empty(); }

  std::uint32_t by_index(const CsvReader& reader, const std::string& field) const {
    const auto index = whole_number(field);
    if (!index) reader.fail(fmt::format("index '{}' is not a whole number", shown(field)));
    if (*index < 0 || static_cast<std::uint64_t>(*index) >= count_)
      reader.fail(fmt::format("index {} is outside 0 .. {}; is the file for this dataset?", *index, count_ - 1));
    return static_cast<std::uint32_t>(*index);
  }

  std::uint32_t by_path(const CsvReader& reader, const std::string& field) {
    if (!have_paths()) reader.fail("there is a path, and the images of this dataset have none; give a column 'index'");
    if (by_path_.empty()) sort_paths();
    const auto found = by_path_.find(plain_path(field));
    if (found == by_path_.end()) {
      reader.fail(fmt::format("no training image has the path '{}'; the first one has '{}'", shown(field),
                              shown(paths_.front())));
    }
    if (found->second == several)
      reader.fail(fmt::format("the path '{}' is that of several images; give a column 'index'", shown(field)));
    return found->second;
  }

  /// For a field that may be either.
  std::uint32_t by_either(const CsvReader& reader, const std::string& field) {
    return have_paths() && !whole_number(field) ? by_path(reader, field) : by_index(reader, field);
  }

  /// A file with indexes of other images would go unnoticed but for their paths.
  void check_path(const CsvReader& reader, std::uint32_t index, const std::string& field) const {
    if (have_paths() && (paths_[index] == field || plain_path(paths_[index]) == plain_path(field))) return;
    const auto here = have_paths() ? fmt::format("'{}'", shown(paths_[index])) : "without a path";
    reader.fail(fmt::format(
        "image {} is '{}' in the file and {} here; the file is for another dataset, or the folder has changed", index,
        shown(field), here));
  }

 private:
  void sort_paths() {
    for (std::uint32_t i = 0; i < paths_.size(); ++i) {
      const auto [entry, is_new] = by_path_.emplace(plain_path(paths_[i]), i);
      if (!is_new) entry->second = several;
    }
  }

  static constexpr std::uint32_t several = std::numeric_limits<std::uint32_t>::max();

  std::size_t count_;
  std::span<const std::string> paths_;
  std::map<std::string, std::uint32_t> by_path_;
};

/// The columns `index` and `path` of a table, at least one of which it has.
struct ImageColumns {
  std::optional<std::size_t> index, path;

  std::uint32_t position(const CsvReader& reader, Images& images) const {
    const auto& fields = reader.fields();
    if (!index) return images.by_path(reader, fields[*path]);
    const auto found = images.by_index(reader, fields[*index]);
    if (path) images.check_path(reader, found, fields[*path]);
    return found;
  }
};

/// Whether the record is the header of a table with one of these columns.
bool names_images(const std::vector<std::string>& fields) {
  return std::any_of(fields.begin(), fields.end(), [](const std::string& field) {
    const auto name = column_name(field);
    return name == "index" || name == "path";
  });
}

[[noreturn]] void fail_count(const std::string& name, std::size_t found, std::size_t count, const std::string& more) {
  throw UserError(fmt::format("{}: {} labels for {} images{}; give one line per image", name, found, count, more));
}

/// The reader is at the header line.
LabelsFile parse_table(CsvReader& reader, Images& images, const Classes& classes, const Tell& tell) {
  constexpr std::array<std::string_view, 4> known{"label", "clean", "index", "path"};
  const auto columns = find_columns(reader, known, 1, tell);
  const ImageColumns place{columns[2], columns[3]};
  const std::size_t width = reader.fields().size();
  LabelsFile file;
  file.labels.assign(images.count(), -1);
  file.clean.assign(columns[1] ? images.count() : 0, -1);
  std::size_t found = 0;
  bool any_clean = false;
  for (; reader.next(); ++found) {
    reader.expect(width);
    const auto& fields = reader.fields();
    const auto index = place.position(reader, images);
    if (file.labels[index] >= 0) reader.fail(fmt::format("image {} comes twice; give one line per image", index));
    file.labels[index] = classes.number_of(reader, fields[*columns[0]]);
    if (columns[1] && !fields[*columns[1]].empty()) {
      file.clean[index] = classes.number_of(reader, fields[*columns[1]]);
      any_clean = true;
    }
  }
  const auto missing = std::find(file.labels.begin(), file.labels.end(), -1);
  if (missing != file.labels.end()) {
    fail_count(reader.name(), found, images.count(),
               fmt::format(" (none for image {})", missing - file.labels.begin()));
  }
  if (!any_clean) file.clean.clear();
  return file;
}

/// The reader is at the first label, if there is one.
LabelsFile parse_list(CsvReader& reader, bool more, std::size_t count, const Classes& classes) {
  LabelsFile file;
  std::size_t found = 0;
  for (; more; more = reader.next(), ++found) {
    if (reader.fields().size() != 1) {
      reader.fail(fmt::format("{} fields; give one label per line, or index,label and these words as the first line",
                              reader.fields().size()));
    }
    const auto label = classes.number_of(reader, reader.fields()[0]);
    if (found < count) file.labels.push_back(label);
  }
  if (found != count) fail_count(reader.name(), found, count, "");
  return file;
}

std::vector<std::uint32_t> ascending(std::vector<std::uint32_t> indexes, const std::string& name) {
  std::sort(indexes.begin(), indexes.end());
  const auto twice = std::adjacent_find(indexes.begin(), indexes.end());
  if (twice != indexes.end()) throw UserError(fmt::format("{}: image {} comes twice; give it once", name, *twice));
  return indexes;
}

}  // namespace

LabelsFile parse_labels(std::string_view text, const std::string& name, const Dataset& dataset, const Tell& tell) {
  Images images(dataset);
  const Classes classes(dataset.class_names);
  CsvReader reader(text, name);
  const bool any = reader.next();
  // A single field is a label, even if a class is called index.
  const bool table = any && reader.fields().size() > 1 && names_images(reader.fields());
  return table ? parse_table(reader, images, classes, tell) : parse_list(reader, any, images.count(), classes);
}

LabelsFile read_labels(const std::filesystem::path& file, const Dataset& dataset, const Tell& tell) {
  // Read once, whatever it is: a pipe has nothing to say a second time.
  const std::string content = read_text(file);
  const auto array = parse_array(content, file);
  if (!array) return parse_labels(content, file.string(), dataset, tell);
  const auto& values = *array;
  const std::size_t count = image_count(dataset);
  if (values.size() != count) fail_count(file.string(), values.size(), count, "");
  const Classes classes(dataset.class_names);
  LabelsFile result;
  for (std::size_t i = 0; i < count; ++i) {
    if (!classes.has(values[i])) {
      throw UserError(
          fmt::format("{}: label {} of image {} is outside 0 .. {}", file.string(), values[i], i, classes.last()));
    }
    result.labels.push_back(static_cast<std::int32_t>(values[i]));
  }
  return result;
}

std::string labels_csv(std::span<const std::int32_t> labels, std::span<const std::int32_t> clean,
                       std::span<const std::string> paths) {
  if ((!clean.empty() && clean.size() != labels.size()) || (!paths.empty() && paths.size() != labels.size()))
    throw std::invalid_argument("labels_csv: labels, clean and paths differ in size");
  CsvWriter csv;
  std::vector<std::string> fields{"index", "label"};
  if (!clean.empty()) fields.emplace_back("clean");
  if (!paths.empty()) fields.emplace_back("path");
  csv.row(fields);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    fields = {std::to_string(i), std::to_string(labels[i])};
    if (!clean.empty()) fields.push_back(clean[i] < 0 ? "" : std::to_string(clean[i]));
    if (!paths.empty()) fields.push_back(paths[i]);
    csv.row(fields);
  }
  return csv.text();
}

std::vector<std::uint32_t> parse_trusted(std::string_view text, const std::string& name, const Dataset& dataset,
                                         const Tell& tell) {
  Images images(dataset);
  CsvReader reader(text, name);
  bool more = reader.next();
  const std::size_t width = reader.fields().size();
  std::optional<ImageColumns> place;
  if (more && names_images(reader.fields())) {
    constexpr std::array<std::string_view, 2> known{"index", "path"};
    const auto columns = find_columns(reader, known, 0, tell);
    place = {columns[0], columns[1]};
    more = reader.next();
  } else if (width > 1) {
    reader.fail("no column 'index' or 'path'; give a first line that names the columns, or one image per line");
  }
  std::vector<std::uint32_t> indexes;
  for (; more; more = reader.next()) {
    reader.expect(width);
    indexes.push_back(place ? place->position(reader, images) : images.by_either(reader, reader.fields()[0]));
  }
  // A file that names its columns and lists nothing is what an audit leaves that found no label to be certain of.
  if (indexes.empty() && place && tell) tell(fmt::format("{}: no image in it; no label is trusted", name));
  if (indexes.empty() && !place)
    throw UserError(fmt::format("{}: no image in it; give the index or path of one per line", name));
  return ascending(std::move(indexes), name);
}

std::vector<std::uint32_t> read_trusted(const std::filesystem::path& file, const Dataset& dataset, const Tell& tell) {
  const std::string content = read_text(file);
  const auto array = parse_array(content, file);
  if (!array) return parse_trusted(content, file.string(), dataset, tell);
  const std::size_t count = image_count(dataset);
  std::vector<std::uint32_t> indexes;
  for (const std::int64_t index : *array) {
    if (index < 0 || static_cast<std::uint64_t>(index) >= count) {
      throw UserError(fmt::format("{}: index {} is outside 0 .. {}; is the file for this dataset?", file.string(),
                                  index, count - 1));
    }
    indexes.push_back(static_cast<std::uint32_t>(index));
  }
  if (indexes.empty()) throw UserError(fmt::format("{}: no image in it; give their indexes", file.string()));
  return ascending(std::move(indexes), file.string());
}

}  // namespace regroup
