#include "regroup/data/key_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "regroup/core/error.h"
#include "regroup/io/text_file.h"

namespace regroup {

void NamedText::fail(std::size_t line, const std::string& what) const {
  throw UserError(fmt::format("{}: line {}: {}", name, line, what));
}

void each_key(const NamedText& list, const std::function<void(std::string_view key, std::size_t line)>& take) {
  std::size_t number = 0;
  for (const std::string_view line : lines(list.text)) {
    ++number;
    if (const std::string_view key = trimmed(line); !key.empty()) take(key, number);
  }
}

std::vector<LabelledKey> labelled_keys(const NamedText& list, int classes) {
  std::vector<LabelledKey> found;
  each_key(list, [&](std::string_view text, std::size_t line) {
    // The last blank: the name of a file may have others.
    const auto blank = text.find_last_of(" \t");
    const auto label = blank == std::string_view::npos ? std::nullopt : whole_number(text.substr(blank + 1));
    if (!label) list.fail(line, fmt::format("'{}' is not a path and the number of a class", shown(text)));
    if (*label < 0 || *label >= classes)
      list.fail(line, fmt::format("the label is {}; the classes are 0 to {}", *label, classes - 1));
    found.push_back(
        {trimmed(text.substr(0, blank)), static_cast<std::int32_t>(*label), static_cast<std::uint32_t>(line)});
  });
  return found;
}

KeyLabels::KeyLabels(const NamedText& list, int classes) : sorted_(labelled_keys(list, classes)) {
  // A table to look up in would take more memory than the sorted list, and hostile keys could make it slow.
  std::ranges::sort(sorted_, {}, [](const LabelledKey& one) { return std::tie(one.key, one.line); });
  for (std::size_t i = 1; i < sorted_.size(); ++i) {
    const LabelledKey &before = sorted_[i - 1], &one = sorted_[i];
    if (one.key == before.key && one.label != before.label)
      list.fail(one.line, fmt::format("'{}' has the label {}, and {} in line {}; keep one of them", shown(one.key),
                                      one.label, before.label, before.line));
  }
}

std::optional<std::int32_t> KeyLabels::of(std::string_view key) const {
  const auto found = std::ranges::lower_bound(sorted_, key, {}, &LabelledKey::key);
  return found == sorted_.end() || found->key != key ? std::nullopt : std::optional(found->label);
}

}  // namespace regroup
