#include "regroup/io/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "regroup/core/error.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

bool looks_like_formula(std::string_view text) {
  return !text.empty() && std::string_view("'=+-@\t\r").find(text.front()) != std::string_view::npos;
}

bool needs_quotes(std::string_view field) {
  // Readers take blanks off the ends of a field without quotes.
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  return field.find_first_of(",\"\r\n") != std::string_view::npos ||
         (!field.empty() && (is_blank(field.front()) || is_blank(field.back())));
}

}  // namespace

CsvReader::CsvReader(std::string_view text, std::string name) : rest_(text), name_(std::move(name)) {}

void CsvReader::fail(const std::string& what) const {
  throw UserError(fmt::format("{}: line {}: {}", name_, line_, what));
}

void CsvReader::expect(std::size_t columns) const {
  if (fields_.size() != columns)
    fail(fmt::format("{} fields where the first line has {}; give one for each column", fields_.size(), columns));
}

bool CsvReader::next() {
  if (rest_.find_first_not_of(" \t\r\n") == std::string_view::npos) return false;
  line_ = next_line_;
  fields_.clear();
  for (bool more = true; more;) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
    rest_.starts_with('"') ? take_quoted() : take_field();
    if (fields_.back().find('\0') != std::string::npos) fail("it has a zero byte; is it a text file?");
    more = rest_.starts_with(',');
    if (more) rest_.remove_prefix(1);
  }
  // The field left nothing but the end of the line.
  rest_.remove_prefix(std::min<std::size_t>(rest_.size(), 1));
  ++next_line_;
  return true;
}

void CsvReader::take_field() {
  const auto length = std::min(rest_.find_first_of(",\n"), rest_.size());
  fields_.emplace_back(trimmed(rest_.substr(0, length)));
  rest_.remove_prefix(length);
}

void CsvReader::take_quoted() {
  std::string field;
  for (bool open = true; open;) {
    rest_.remove_prefix(1);
    const auto quote = rest_.find('"');
    if (quote == std::string_view::npos) fail("a quote is opened and not closed; quotes in a field are doubled");
    field += rest_.substr(0, quote);
    rest_.remove_prefix(quote + 1);
    open = rest_.starts_with('"');
    if (open) field += '"';
  }
  next_line_ += static_cast<std::size_t>(std::count(field.begin(), field.end(), '\n'));
  const auto end = std::min(rest_.find_first_of(",\n"), rest_.size());
  if (!trimmed(rest_.substr(0, end)).empty()) {
    fail(fmt::format("'{}' follows a closed quote; quotes in a field are doubled",
                     shown(trimmed(rest_.substr(0, end)))));
  }
  fields_.push_back(std::move(field));
  rest_.remove_prefix(end);
}

std::string column_name(std::string_view field) {
  constexpr std::array<std::string_view, 5> paths{"image", "file", "filename", "file_name", "filepath"};
  std::string name = lowercase(trimmed(field));
  return std::find(paths.begin(), paths.end(), name) == paths.end() ? name : "path";
}

std::vector<std::optional<std::size_t>> find_columns(const CsvReader& header, std::span<const std::string_view> known,
                                                     std::size_t required, const Tell& tell) {
  std::vector<std::optional<std::size_t>> columns(known.size());
  std::vector<std::string_view> further;
  const auto& fields = header.fields();
  for (std::size_t at = 0; at < fields.size(); ++at) {
    const auto name = column_name(fields[at]);
    const auto found = static_cast<std::size_t>(std::find(known.begin(), known.end(), name) - known.begin());
    if (found == known.size()) {
      further.push_back(fields[at]);
    } else if (columns[found]) {
      header.fail(fmt::format("the columns '{}' and '{}' both mean {}; leave one out", fields[*columns[found]],
                              fields[at], name));
    } else {
      columns[found] = at;
    }
  }
  for (std::size_t i = 0; i < required; ++i) {
    if (!columns[i]) {
      header.fail(fmt::format("no column '{}' in '{}'; the first line has to name the columns: {}", known[i],
                              shown(fmt::format("{}", fmt::join(fields, ","))), fmt::join(known, ", ")));
    }
  }
  if (tell && !further.empty())
    tell(fmt::format("{}: columns that are not used: {}", header.name(),
                     shown(fmt::format("{}", fmt::join(further, ", ")))));
  return columns;
}

std::string spreadsheet_text(std::string_view text) {
  return (looks_like_formula(text) ? "'" : "") + std::string(text);
}

std::string plain_text(std::string_view field) {
  if (field.starts_with('\'') && looks_like_formula(field.substr(1))) field.remove_prefix(1);
  return std::string(field);
}

void CsvWriter::row(const std::vector<std::string>& fields) {
  // Readers pass over a blank line at the end.
  if (fields.size() == 1 && fields.front().empty()) text_ += "\"\"";
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) text_ += ',';
    if (!needs_quotes(fields[i])) {
      text_ += fields[i];
      continue;
    }
    text_ += '"';
    for (const char c : fields[i]) text_.append(c == '"' ? 2 : 1, c);
    text_ += '"';
  }
  text_ += '\n';
}

}  // namespace regroup
