#include "regroup/data/features.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "regroup/core/error.h"
#include "regroup/core/memory.h"
#include "regroup/data/array_file.h"
#include "regroup/data/image_files.h"
#include "regroup/data/vectors.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

/// Training and validation vectors, one after the other.
class JoinedVectors final : public SampleSource {
 public:
  JoinedVectors(std::shared_ptr<const SampleSource> first, std::shared_ptr<const SampleSource> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  SampleShape shape() const override { return first_->shape(); }
  std::size_t size() const override { return first_->size() + second_->size(); }
  std::size_t window() const override { return first_->window(); }
  SampleView read(std::uint32_t index, SampleScratch& scratch) const override {
    const std::size_t before = first_->size();
    return index < before ? first_->read(index, scratch)
                          : second_->read(static_cast<std::uint32_t>(index - before), scratch);
  }
  std::uint64_t digest(std::uint64_t before) const override { return second_->digest(first_->digest(before)); }

 private:
  std::shared_ptr<const SampleSource> first_, second_;
};

[[noreturn]] void fail_count(const std::string& name, std::size_t found, std::size_t rows) {
  throw UserError(fmt::format("{}: {} lines for {} vectors; give one line per row", name, found, rows));
}

bool has_column(const CsvReader& header, std::string_view name) {
  return std::ranges::any_of(header.fields(), [&](const auto& field) { return column_name(field) == name; });
}

/// The reader is at the header.
RowTable parse_columns(CsvReader& reader, std::size_t rows, const Tell& tell) {
  constexpr std::array<std::string_view, 5> known{"label", "index", "clean", "path", "text"};
  const auto columns = find_columns(reader, known, 0, tell);
  const std::size_t width = reader.fields().size();
  RowTable table;
  if (columns[0]) table.labels.resize(rows);
  if (columns[2]) table.clean.resize(rows);
  if (columns[3]) table.paths.resize(rows);
  if (columns[4]) table.texts.resize(rows);
  std::vector<bool> seen(rows);
  std::size_t found = 0;
  for (; reader.next(); ++found) {
    reader.expect(width);
    const auto& fields = reader.fields();
    std::size_t row = found;
    if (columns[1]) {
      const auto index = whole_number(fields[*columns[1]]);
      if (!index || *index < 0 || static_cast<std::uint64_t>(*index) >= rows)
        reader.fail(fmt::format("index '{}' is none of a row, 0 to {}; is the file for these vectors?",
                                shown(fields[*columns[1]]), rows - 1));
      row = static_cast<std::size_t>(*index);
    }
    if (row >= rows) continue;
    if (seen[row]) reader.fail(fmt::format("row {} comes twice; give one line per row", row));
    seen[row] = true;
    if (columns[0]) table.labels[row] = fields[*columns[0]];
    if (columns[0] && table.labels[row].empty()) reader.fail("the label is empty");
    if (columns[2]) table.clean[row] = fields[*columns[2]];
    if (columns[3]) table.paths[row] = fields[*columns[3]];
    if (columns[4]) table.texts[row] = fields[*columns[4]];
  }
  if (found != rows) fail_count(reader.name(), found, rows);
  return table;
}

/// The labels of some rows, and what else is known about them.
RowTable read_row_table(const fs::path& file, std::size_t rows, const Tell& tell) {
  const std::string content = read_text(file);
  const auto array = parse_array(content, file);
  if (!array) return parse_row_table(content, file.string(), rows, tell);
  if (array->size() != rows) fail_count(file.string(), array->size(), rows);
  RowTable table;
  for (const std::int64_t label : *array) table.labels.push_back(std::to_string(label));
  return table;
}

/// From the labels of a file to the numbers of their classes.
class ClassNumbers {
 public:
  /// `names` are those of a file classes.txt, which labels may also say by their number; empty: there is none.
  ClassNumbers(const std::vector<std::string>& training_labels, std::vector<std::string> names)
      : given_(!names.empty()), names_(given_ ? std::move(names) : classes_of(training_labels)) {
    for (const std::string& name : names_) numbers_.emplace(name, static_cast<std::int32_t>(numbers_.size()));
  }

  const std::vector<std::string>& names() const { return names_; }

  std::vector<std::int32_t> of(const std::vector<std::string>& labels, const std::string& file, bool may_lack) const {
    std::vector<std::int32_t> numbers;
    numbers.reserve(labels.size());
    for (std::size_t row = 0; row < labels.size(); ++row) {
      const auto number = may_lack && labels[row].empty() ? std::optional<std::int32_t>(-1) : number_of(labels[row]);
      if (!number)
        throw UserError(fmt::format("{}: row {} has the label '{}', {}", file, row, shown(labels[row]),
                                    given_
                                        ? fmt::format("and classes.txt has {} names; give one of them, or its number "
                                                      "from 0",
                                                      names_.size())
                                        : "which no training vector has"));
      numbers.push_back(*number);
    }
    return numbers;
  }

 private:
  std::optional<std::int32_t> number_of(const std::string& label) const {
    if (const auto found = numbers_.find(label); found != numbers_.end()) return found->second;
    if (!given_) return std::nullopt;
    const auto number = whole_number(label);
    if (!number || *number < 0 || static_cast<std::uint64_t>(*number) >= names_.size()) return std::nullopt;
    return static_cast<std::int32_t>(*number);
  }

  bool given_;
  std::vector<std::string> names_;
  std::map<std::string, std::int32_t, std::less<>> numbers_;
};

/// The names in classes.txt, one per line.
std::vector<std::string> read_class_names(const fs::path& file) {
  std::error_code unreadable_is_missing;
  if (!fs::is_regular_file(file, unreadable_is_missing)) return {};
  const std::string text = read_text(file);
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const std::string_view line : lines(text)) {
    names.emplace_back(trimmed(line));
    if (names.back().empty() || !seen.insert(names.back()).second)
      throw UserError(
          fmt::format("{}: line {} is empty or has a name that comes before; give the name of each class "
                      "on a line of its own",
                      file.string(), names.size()));
  }
  return names;
}

/// A part of the data: its vectors and the file of their labels.
struct Part {
  fs::path vectors, labels;
  std::shared_ptr<const SampleSource> source;
  RowTable table;
};

fs::path labels_beside(const fs::path& vectors) {
  for (const char* ending : {".csv", ".txt"}) {
    fs::path labels = vectors;
    labels.replace_extension(ending);
    std::error_code unreadable_is_missing;
    if (fs::exists(labels, unreadable_is_missing)) return labels;
  }
  throw UserError(fmt::format("{}: has no labels beside it; give {}.csv with the column label, one line per row",
                              vectors.string(), vectors.stem().string()));
}

/// The parts in a folder, by their names.
std::map<std::string, Part> find_parts(const fs::path& folder, const LoadOptions& options) {
  std::map<std::string, Part> parts;
  std::error_code error;
  std::vector<fs::path> files;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error))
    if (lowercase(entry->path().extension().string()) == ".npy") files.push_back(entry->path());
  if (error) throw UserError(fmt::format("{}: cannot be read: {}", folder.string(), error.message()));
  std::ranges::sort(files);
  std::vector<std::string> others;
  for (const fs::path& file : files) {
    const auto name = part_called(file.stem().string());
    if (!name) {
      others.push_back(file.filename().string());
    } else if (!parts.emplace(*name, Part{file, labels_beside(file), nullptr, {}}).second) {
      throw UserError(fmt::format("{}: there are two files of the part {}; keep one of them", file.string(), *name));
    }
  }
  if (!parts.contains("train"))
    throw UserError(
        fmt::format("{}: there is no train.npy in it{}; give a folder with train.npy and train.csv, or the "
                    "NPY file itself and its labels by --labels",
                    folder.string(), others.empty() ? "" : fmt::format(", but {}", fmt::join(others, ", "))));
  if (!others.empty() && options.tell)
    options.tell(
        fmt::format("left out, since only train, val, test and test-NAME are read: {}", fmt::join(others, ", ")));
  return parts;
}

/// Half of the memory for all parts together, where nothing else is said: the others need some too.
double memory_of(const LoadOptions& options, std::size_t parts) {
  const double all = options.vector_bytes > 0 ? options.vector_bytes : physical_memory() / 2;
  return all / static_cast<double>(parts);
}

void read_parts(std::map<std::string, Part>& parts, const LoadOptions& options) {
  for (auto& [name, part] : parts)
    part.source =
        std::make_shared<VectorFile>(part.vectors, memory_of(options, parts.size()), options.threads, options.progress);
  const Part& train = parts.at("train");
  for (auto& [name, part] : parts) {
    if (part.source->shape() != train.source->shape())
      throw UserError(fmt::format("{}: vectors of {} numbers, and those of {} have {}; they must be of one model",
                                  part.vectors.string(), part.source->shape().channels, train.vectors.string(),
                                  train.source->shape().channels));
    part.table = read_row_table(part.labels, part.source->size(), options.tell);
    if (!options.texts) part.table.texts = {};
  }
}

LabelledSet set_of(Part part, const ClassNumbers& classes) {
  LabelledSet set;
  set.labels = classes.of(part.table.labels, part.labels.string(), false);
  if (!part.table.clean.empty()) set.clean = classes.of(part.table.clean, part.labels.string(), true);
  set.source = std::move(part.source);
  set.paths = std::move(part.table.paths);
  set.texts = std::move(part.table.texts);
  return set;
}

/// Adds what only one of two sets may have.
template <class T>
void append(std::vector<T>& to, std::vector<T> more, std::size_t before, std::size_t added, const T& nothing) {
  if (to.empty() && more.empty()) return;
  to.resize(before, nothing);
  more.resize(added, nothing);
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void add_validation(LabelledSet more, Dataset& dataset) {
  LabelledSet& train = dataset.train;
  const std::size_t before = train.size(), added = more.size();
  train.source = std::make_shared<JoinedVectors>(train.source, more.source);
  append(train.clean, std::move(more.clean), before, added, -1);
  append(train.paths, std::move(more.paths), before, added, std::string());
  append(train.texts, std::move(more.texts), before, added, std::string());
  train.labels.insert(train.labels.end(), more.labels.begin(), more.labels.end());
  dataset.validation_count = static_cast<int>(added);
}

void tell_what_was_found(const fs::path& place, const std::map<std::string, Part>& parts, int classes,
                         const LoadOptions& options) {
  if (!options.tell) return;
  std::vector<std::string> counts;
  counts.reserve(parts.size());
  for (const auto& [name, part] : parts) counts.push_back(fmt::format("{} {}", name, part.source->size()));
  options.tell(fmt::format("{}: {} classes; vectors of {} numbers: {}", place.string(), classes,
                           parts.at("train").source->shape().channels, fmt::join(counts, ", ")));
  const SampleSource& train = *parts.at("train").source;
  if (train.window() > 0)
    options.tell(
        fmt::format("they take more memory than they may (--vector-memory), so that {} of {} are in memory at a "
                    "time",
                    train.window(), train.size()));
}

void refuse_one_class(const fs::path& file, const std::vector<std::string>& names) {
  if (names.size() < 2)
    throw UserError(fmt::format("{}: {}; give labels of at least two classes", file.string(),
                                names.empty() ? "there is no label" : "all labels are the same"));
}

}  // namespace

RowTable parse_row_table(std::string_view text, const std::string& name, std::size_t rows, const Tell& tell) {
  CsvReader reader(text, name);
  if (!reader.next()) fail_count(name, 0, rows);
  if (has_column(reader, "label")) return parse_columns(reader, rows, tell);
  RowTable table;
  bool more = true;
  for (; more; more = reader.next()) {
    if (reader.fields().size() != 1)
      reader.fail(
          fmt::format("{} fields and no column label; give one label per line, or a first line that names the "
                      "columns label, index, clean, path and text",
                      reader.fields().size()));
    if (reader.fields().front().empty()) reader.fail("the label is empty");
    table.labels.push_back(reader.fields().front());
  }
  if (table.labels.size() != rows) fail_count(name, table.labels.size(), rows);
  return table;
}

std::vector<std::string> parse_row_texts(std::string_view text, const std::string& name, std::size_t rows) {
  CsvReader reader(text, name);
  if (reader.next() && has_column(reader, "text")) return parse_columns(reader, rows, [](const auto&) {}).texts;
  std::vector<std::string> texts;
  for (const std::string_view line : lines(text)) texts.emplace_back(line);
  if (texts.size() != rows) fail_count(name, texts.size(), rows);
  return texts;
}

std::vector<std::string> classes_of(const std::vector<std::string>& labels) {
  const std::set<std::string> names(labels.begin(), labels.end());
  std::vector<std::string> sorted(names.begin(), names.end());
  if (std::ranges::all_of(sorted, [](const auto& name) { return whole_number(name).has_value(); }))
    std::ranges::stable_sort(sorted, {}, [](const auto& name) { return *whole_number(name); });
  return sorted;
}

Dataset load_features(const fs::path& place, const DatasetInfo& info, const LoadOptions& options) {
  std::error_code error;
  if (!fs::exists(place, error)) throw UserError(fmt::format("{}: does not exist; {}", place.string(), info.advice));
  const bool is_folder = fs::is_directory(place, error);
  std::map<std::string, Part> parts;
  if (is_folder) {
    parts = find_parts(place, options);
  } else {
    if (options.labels.empty())
      throw UserError(fmt::format("{}: vectors without labels; give --labels FILE, one label per row", place.string()));
    parts["train"] = {place, options.labels, nullptr, {}};
  }
  read_parts(parts, options);
  const ClassNumbers classes(parts.at("train").table.labels,
                             is_folder ? read_class_names(place / "classes.txt") : std::vector<std::string>());
  refuse_one_class(parts.at("train").labels, classes.names());
  tell_what_was_found(place, parts, static_cast<int>(classes.names().size()), options);

  Dataset dataset;
  dataset.name = info.name;
  dataset.labels_are_true = false;
  dataset.has_file_labels = !is_folder;
  dataset.class_names = classes.names();
  dataset.root = is_folder ? place : place.parent_path();
  dataset.train = set_of(std::move(parts.at("train")), classes);
  const SampleShape shape = dataset.train.source->shape();
  dataset.test().source = std::make_shared<VectorsInMemory>(shape.channels, std::vector<float>());
  tell_small_classes(dataset, options);
  for (auto& [name, part] : parts) {
    if (name == "train") continue;
    LabelledSet set = set_of(std::move(part), classes);
    if (name == "val") {
      add_validation(std::move(set), dataset);
    } else if (name == "test") {
      dataset.test() = std::move(set);
    } else {
      dataset.tests.push_back({name, std::move(set)});
    }
  }
  return dataset;
}

}  // namespace regroup
