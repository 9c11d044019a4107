#include "regroup/train/data_change.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <vector>

#include "regroup/io/csv.h"

namespace regroup {
namespace {

/// Labels by the path of the image, or by its index where it has none.
using Labels = std::map<std::string, std::string, std::less<>>;

Labels labels_in(std::string_view csv) {
  constexpr std::array<std::string_view, 3> names{"index", "label", "path"};
  Labels labels;
  CsvReader reader(csv, "labels.csv");
  if (!reader.next()) return labels;
  const auto columns = find_columns(reader, names, 2, {});
  while (reader.next()) {
    const auto& fields = reader.fields();
    if (fields.size() <= *columns[0] || fields.size() <= *columns[1]) continue;
    const bool has_path = columns[2] && *columns[2] < fields.size() && !fields[*columns[2]].empty();
    labels[fields[has_path ? *columns[2] : *columns[0]]] = fields[*columns[1]];
  }
  return labels;
}

/// Counts images and remembers the first.
struct Some {
  std::size_t count = 0;
  std::string first;

  void add(const std::string& name) {
    if (count++ == 0) first = name;
  }
};

}  // namespace

std::string describe_change(std::string_view before, const RunData& now) {
  const Labels old_labels = labels_in(before), new_labels = labels_in(labels_csv(now));
  Some added, gone, changed;
  for (const auto& [image, label] : new_labels) {
    const auto old = old_labels.find(image);
    if (old == old_labels.end()) {
      added.add(image);
    } else if (old->second != label) {
      changed.add(image);
    }
  }
  for (const auto& [image, label] : old_labels)
    if (!new_labels.contains(image)) gone.add(image);
  std::vector<std::string> parts;
  const auto tell = [&](const Some& some, const char* one, const char* several) {
    if (some.count == 0) return;
    parts.push_back(some.count == 1 ? fmt::format("1 image {} ({})", one, some.first)
                                    : fmt::format("{} images {} (the first: {})", some.count, several, some.first));
  };
  tell(added, "is new", "are new");
  tell(gone, "is gone", "are gone");
  tell(changed, "has another label", "have other labels");
  if (parts.empty()) return "the list of images and their labels is the same, but files or test sets have changed";
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace regroup
