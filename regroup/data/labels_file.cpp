#include "regroup/data/labels_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>

#include "regroup/core/error.h"
#include "regroup/data/csv.h"
#include "regroup/data/npy.h"
#include "regroup/data/text_file.h"

namespace regroup {
namespace {

constexpr std::array<std::string_view, 3> label_columns{"index", "label", "clean"};
constexpr std::string_view npy_signature = "\x93NUMPY";

bool is_npy(const std::filesystem::path& file) {
  std::array<std::uint8_t, npy_signature.size()> start{};
  const std::size_t found = open_bytes(file)->read(start);
  return std::string_view(reinterpret_cast<const char*>(start.data()), found) == npy_signature;
}

/// The values of a list of integers.
std::vector<std::int64_t> read_npy_list(const std::filesystem::path& file) {
  const NpyArray array = read_npy(file);
  if (array.shape.size() != 1) {
    throw UserError(
        fmt::format("{}: an array of {} dimensions; give one of 1 dimension", file.string(), array.shape.size()));
  }
  return integers(array, file.string());
}

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

std::uint32_t parse_index(const CsvReader& reader, const std::string& field, std::size_t count) {
  const auto index = whole_number(field);
  if (!index) reader.fail(fmt::format("index '{}' is not a whole number", shown(field)));
  if (*index < 0 || static_cast<std::uint64_t>(*index) >= count)
    reader.fail(fmt::format("index {} is outside 0 .. {}; is the file for this dataset?", *index, count - 1));
  return static_cast<std::uint32_t>(*index);
}

[[noreturn]] void fail_count(const std::string& name, std::size_t found, std::size_t count, const std::string& more) {
  throw UserError(fmt::format("{}: {} labels for {} images{}; give one line an image", name, found, count, more));
}

/// The reader is at the header line.
LabelsFile parse_table(CsvReader& reader, std::size_t count, const Classes& classes) {
  const auto columns = find_columns(reader, label_columns, 2);
  const std::size_t width = reader.fields().size();
  LabelsFile file;
  file.labels.assign(count, -1);
  file.clean.assign(columns[2] ? count : 0, -1);
  std::size_t found = 0;
  bool any_clean = false;
  for (; reader.next(); ++found) {
    reader.expect(width);
    const auto& fields = reader.fields();
    const auto index = parse_index(reader, fields[*columns[0]], count);
    if (file.labels[index] >= 0) reader.fail(fmt::format("index {} comes twice; give one line an image", index));
    file.labels[index] = classes.number_of(reader, fields[*columns[1]]);
    if (columns[2] && !fields[*columns[2]].empty()) {
      file.clean[index] = classes.number_of(reader, fields[*columns[2]]);
      any_clean = true;
    }
  }
  const auto missing = std::find(file.labels.begin(), file.labels.end(), -1);
  if (missing != file.labels.end())
    fail_count(reader.name(), found, count, fmt::format(" (none for image {})", missing - file.labels.begin()));
  if (!any_clean) file.clean.clear();
  return file;
}

/// The reader is at the first label, if there is one.
LabelsFile parse_list(CsvReader& reader, bool more, std::size_t count, const Classes& classes) {
  LabelsFile file;
  std::size_t found = 0;
  for (; more; more = reader.next(), ++found) {
    if (reader.fields().size() != 1) {
      reader.fail(fmt::format("{} fields; give one label a line, or index,label and these words as the first line",
                              reader.fields().size()));
    }
    const auto label = classes.number_of(reader, reader.fields()[0]);
    if (found < count) file.labels.push_back(label);
  }
  if (found != count) fail_count(reader.name(), found, count, "");
  return file;
}

std::vector<std::uint32_t> ascending(std::vector<std::uint32_t> indexes, const std::string& name) {
  if (indexes.empty()) throw UserError(fmt::format("{}: no index in it; give the position of an image a line", name));
  std::sort(indexes.begin(), indexes.end());
  const auto twice = std::adjacent_find(indexes.begin(), indexes.end());
  if (twice != indexes.end()) throw UserError(fmt::format("{}: index {} comes twice; give it once", name, *twice));
  return indexes;
}

void check_count(std::size_t count) {
  if (count == 0 || count > std::numeric_limits<std::uint32_t>::max())
    throw std::invalid_argument("labels file: no images, or too many");
}

}  // namespace

LabelsFile parse_labels(std::string_view text, const std::string& name, std::size_t count,
                        std::span<const std::string> class_names) {
  check_count(count);
  const Classes classes(class_names);
  CsvReader reader(text, name);
  const bool any = reader.next();
  const auto& first = reader.fields();
  const bool table = any && std::find(first.begin(), first.end(), "index") != first.end();
  return table ? parse_table(reader, count, classes) : parse_list(reader, any, count, classes);
}

LabelsFile read_labels(const std::filesystem::path& file, std::size_t count, std::span<const std::string> class_names) {
  if (!is_npy(file)) return parse_labels(read_text(file), file.string(), count, class_names);
  check_count(count);
  const auto values = read_npy_list(file);
  if (values.size() != count) fail_count(file.string(), values.size(), count, "");
  const Classes classes(class_names);
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

std::vector<std::uint32_t> parse_trusted(std::string_view text, const std::string& name, std::size_t count) {
  check_count(count);
  CsvReader reader(text, name);
  bool more = reader.next();
  std::size_t column = 0;
  const std::size_t width = reader.fields().size();
  const auto header = std::find(reader.fields().begin(), reader.fields().end(), "index");
  if (header != reader.fields().end()) {
    column = static_cast<std::size_t>(header - reader.fields().begin());
    more = reader.next();
  } else if (width > 1) {
    reader.fail("no column 'index'; give a first line that names the columns, or one index a line");
  }
  std::vector<std::uint32_t> indexes;
  for (; more; more = reader.next()) {
    reader.expect(width);
    indexes.push_back(parse_index(reader, reader.fields()[column], count));
  }
  return ascending(std::move(indexes), name);
}

std::vector<std::uint32_t> read_trusted(const std::filesystem::path& file, std::size_t count) {
  if (!is_npy(file)) return parse_trusted(read_text(file), file.string(), count);
  check_count(count);
  std::vector<std::uint32_t> indexes;
  for (const std::int64_t index : read_npy_list(file)) {
    if (index < 0 || static_cast<std::uint64_t>(index) >= count) {
      throw UserError(fmt::format("{}: index {} is outside 0 .. {}; is the file for this dataset?", file.string(),
                                  index, count - 1));
    }
    indexes.push_back(static_cast<std::uint32_t>(index));
  }
  return ascending(std::move(indexes), file.string());
}

}  // namespace regroup
