#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regroup {

/// Takes a sentence about what was found.
using Tell = std::function<void(const std::string& sentence)>;

/// Goes through the records of a CSV text (RFC 4180): fields between commas, which may stand in double quotes and then
/// hold commas, line ends and doubled quotes. Blanks around a field without quotes do not belong to it. Lines end in
/// \n or \r\n; blank lines at the end are no records.
class CsvReader {
 public:
  /// `text` must outlive the reader. `name` is for the messages.
  CsvReader(std::string_view text, std::string name);

  /// Takes the next record; false at the end. Throws UserError.
  bool next();

  const std::vector<std::string>& fields() const { return fields_; }
  const std::string& name() const { return name_; }
  std::size_t line() const { return line_; }  ///< where the record starts, from 1

  /// Throws UserError: name, line, what.
  [[noreturn]] void fail(const std::string& what) const;

  /// Fails unless the record has `columns` fields.
  void expect(std::size_t columns) const;

 private:
  void take_field();
  void take_quoted();

  std::string_view rest_;
  std::string name_;
  std::vector<std::string> fields_;
  std::size_t line_ = 0;
  std::size_t next_line_ = 1;
};

/// The name of a column as we write it: without blanks around it, in small letters, `path` for image, file, filename,
/// file_name and filepath.
std::string column_name(std::string_view field);

/// Where each of the `known` columns stands, by the header line that the reader is at. A column that is missing (the
/// first `required` of them must be there) or there twice is an error; further columns are told in one sentence.
std::vector<std::optional<std::size_t>> find_columns(const CsvReader& header, std::span<const std::string_view> known,
                                                     std::size_t required, const Tell& tell);

/// A text as a field that no spreadsheet takes for a formula: where it begins with one of ' = + - @, a tab or a
/// carriage return, one ' more stands in front.
std::string spreadsheet_text(std::string_view text);

/// The text that spreadsheet_text made this field of; other fields are their own text.
std::string plain_text(std::string_view field);

/// Writes a CSV text as CsvReader reads it. A field is put into double quotes only where it would be read otherwise
/// without them; how numbers are formatted is the caller's choice.
class CsvWriter {
 public:
  void row(const std::vector<std::string>& fields);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace regroup
