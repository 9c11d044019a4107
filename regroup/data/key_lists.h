#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regroup {

// The lists that large published datasets come with: a line per image, about a million of them. A key is the path of an
// image as the list has it. What is read here holds views of the texts, which must outlive it.

/// The text of a file, and its name for messages.
struct NamedText {
  std::string name, text;

  /// Throws UserError that names the file and the line.
  [[noreturn]] void fail(std::size_t line, const std::string& what) const;
};

/// Calls take(key, line) for each line that is not blank; lines count from 1.
void each_key(const NamedText& list, const std::function<void(std::string_view key, std::size_t line)>& take);

/// A line `KEY LABEL`, such as `images/0/00/1.jpg 5`.
struct LabelledKey {
  std::string_view key;
  std::int32_t label = 0;
  std::uint32_t line = 0;
};

/// All lines, in their order; blank ones are passed over. Labels are in 0 .. classes - 1; another, or a line that has
/// none, is a UserError.
std::vector<LabelledKey> labelled_keys(const NamedText& list, int classes);

/// The labels of keys. A key that has two different ones is a UserError.
class KeyLabels {
 public:
  KeyLabels(const NamedText& list, int classes);

  std::optional<std::int32_t> of(std::string_view key) const;

 private:
  std::vector<LabelledKey> sorted_;
};

}  // namespace regroup
