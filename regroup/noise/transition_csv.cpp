#include "regroup/noise/transition_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "regroup/core/error.h"
#include "regroup/core/file.h"
#include "regroup/io/csv.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

constexpr double sum_tolerance = 1e-6;

double parse_probability(const CsvReader& reader, const std::string& field) {
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size())
    reader.fail(fmt::format("'{}' is not a number; give probabilities and no header line", shown(field)));
  if (!(value >= 0 && value <= 1)) reader.fail(fmt::format("{} is not a probability between 0 and 1", value));
  return value;
}

void parse_row(const CsvReader& reader, int from, TransitionMatrix& matrix) {
  const int classes = matrix.classes();
  const auto& fields = reader.fields();
  if (fields.size() == 1 && fields.front().empty()) reader.fail("the line is blank");
  if (from == classes) reader.fail(fmt::format("a row more than the {} classes", classes));
  if (fields.size() != static_cast<std::size_t>(classes))
    reader.fail(
        fmt::format("{} columns for {} classes; give a row and a column for each class", fields.size(), classes));
  double sum = 0;
  for (int to = 0; to < classes; ++to) {
    matrix(from, to) = parse_probability(reader, fields[static_cast<std::size_t>(to)]);
    sum += matrix(from, to);
  }
  if (std::abs(sum - 1) > sum_tolerance) reader.fail(fmt::format("the row sums to {:.9g}, not to 1", sum));
  for (int to = 0; to < classes; ++to) matrix(from, to) /= sum;
}

}  // namespace

TransitionMatrix parse_transition(std::string_view text, const std::string& name, int classes) {
  TransitionMatrix matrix(classes);
  CsvReader reader(text, name);
  int rows = 0;
  while (reader.next()) parse_row(reader, rows++, matrix);
  if (rows != classes) {
    throw UserError(
        fmt::format("{}: {} rows for {} classes; give a row and a column for each class", name, rows, classes));
  }
  return matrix;
}

TransitionMatrix read_transition(const std::filesystem::path& file, int classes) {
  // No number needs more than 25 characters; the bound keeps a file that is no matrix at all from filling the memory.
  const auto entries = static_cast<std::size_t>(classes) * static_cast<std::size_t>(classes);
  return parse_transition(read_text(file, 64 * entries + 65536), file.string(), classes);
}

void write_transition(const std::filesystem::path& file, const TransitionMatrix& matrix) {
  CsvWriter csv;
  for (int from = 0; from < matrix.classes(); ++from) {
    const auto row = matrix.row(from);
    const bool empty = std::all_of(row.begin(), row.end(), [](double entry) { return entry == 0; });
    std::vector<std::string> fields(row.size());
    for (int to = 0; to < matrix.classes(); ++to)
      fields[static_cast<std::size_t>(to)] = fmt::format("{}", empty && from == to ? 1 : matrix(from, to));
    csv.row(fields);
  }
  write_file(file, csv.text());
}

}  // namespace regroup
