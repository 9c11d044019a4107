#include "regroup/data/csv_dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "regroup/core/error.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

constexpr std::array<std::string_view, 4> column_names{"path", "label", "clean", "split"};

/// A line of the file; the labels are still names.
struct Row {
  std::size_t line;
  std::string path, label, clean;
  std::string part;
};

std::vector<Row> read_rows(CsvReader& reader, const Tell& tell) {
  if (!reader.next()) throw UserError(fmt::format("{}: the file is empty; give lines of path,label", reader.name()));
  const auto columns = find_columns(reader, column_names, 2, tell);
  const std::size_t count = reader.fields().size();
  std::vector<Row> rows;
  while (reader.next()) {
    reader.expect(count);
    const auto field = [&](std::size_t column) {
      return columns[column] ? reader.fields()[*columns[column]] : std::string();
    };
    const auto part = columns[3] ? part_called(field(3)) : "train";
    if (!part) reader.fail(fmt::format("the split is '{}'; give train, val, test or test-NAME", shown(field(3))));
    Row row{reader.line(), field(0), field(1), field(2), *part};
    if (row.path.empty()) reader.fail("the path is empty");
    if (row.label.empty()) reader.fail("the label is empty");
    rows.push_back(std::move(row));
  }
  return rows;
}

/// The labels of the training images, sorted: by number if they are 0 .. C - 1, else by their bytes.
std::vector<std::string> find_classes(const std::vector<Row>& rows) {
  std::set<std::string> labels;
  for (const Row& row : rows) {
    if (row.part == "train") labels.insert(row.label);
  }
  std::vector<std::string> numbers(labels.size());
  for (std::size_t y = 0; y < numbers.size(); ++y) numbers[y] = std::to_string(y);
  const bool numbered = std::all_of(numbers.begin(), numbers.end(), [&](const auto& y) { return labels.contains(y); });
  return numbered ? numbers : std::vector<std::string>(labels.begin(), labels.end());
}

}  // namespace

Manifest parse_manifest(std::string_view text, const std::string& name, const Tell& tell) {
  CsvReader reader(text, name);
  std::vector<Row> rows = read_rows(reader, tell);
  Manifest manifest;
  manifest.class_names = find_classes(rows);
  if (manifest.class_names.size() < 2) {
    throw UserError(fmt::format("{}: the training images have {} different labels; give at least two", name,
                                manifest.class_names.size()));
  }
  std::map<std::string_view, std::int32_t> number_of;
  for (const auto& class_name : manifest.class_names)
    number_of.emplace(class_name, static_cast<std::int32_t>(number_of.size()));
  const auto number = [&](const Row& row, const std::string& label) {
    const auto found = number_of.find(label);
    if (found != number_of.end()) return found->second;
    throw UserError(fmt::format("{}: line {}: no training image has the label '{}'; the classes are those that one has",
                                name, row.line, shown(label)));
  };
  for (Row& row : rows) {
    ListedImage image{std::move(row.path), number(row, row.label), row.clean.empty() ? -1 : number(row, row.clean)};
    manifest.images.of(row.part).push_back(std::move(image));
  }
  return manifest;
}

Dataset load_csv(const std::filesystem::path& file, const DatasetInfo& info, const LoadOptions& options) {
  Manifest manifest = parse_manifest(read_text(file), file.string(), options.tell);
  Dataset dataset;
  dataset.name = info.name;
  dataset.labels_are_true = false;
  dataset.class_names = std::move(manifest.class_names);
  const ListedImages& images = manifest.images;
  if (options.tell) {
    options.tell(fmt::format("{}: {} classes; {} training images, {} validation images, {} test images", file.string(),
                             dataset.classes(), images.train.size(), images.validation.size(),
                             images.tests.at("test").size()));
    for (const auto& [name, list] : images.tests)
      if (name != "test") options.tell(fmt::format("{} has {} images", name, list.size()));
  }
  if (images.tests.at("test").empty()) split_off_test(manifest.images, dataset.classes(), options);
  load_image_files(file.parent_path(), std::move(manifest.images), options, dataset);
  return dataset;
}

}  // namespace regroup
