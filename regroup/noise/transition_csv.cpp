#include "regroup/noise/transition_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "regroup/core/error.h"
#include "regroup/core/file.h"

namespace regroup {
namespace {

constexpr double sum_tolerance = 1e-6;
// No double needs more than 25 characters; the bound keeps a file that is no CSV at all from filling the memory.
constexpr std::size_t max_line = 64 * static_cast<std::size_t>(TransitionMatrix::max_classes);

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Where in which file: the start of every message.
struct Place {
  const std::string& name;
  int line;
};

[[noreturn]] void fail(Place place, const std::string& what) {
  throw UserError(fmt::format("{}: line {}: {}", place.name, place.line, what));
}

double parse_probability(std::string_view cell, Place place) {
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size()) {
    // A cell of a file that is no CSV may be long; its beginning is enough to find it.
    fail(place, fmt::format("'{}' is not a number; give probabilities and no header line", cell.substr(0, 40)));
  }
  if (!(value >= 0 && value <= 1)) fail(place, fmt::format("{} is not a probability between 0 and 1", value));
  return value;
}

void parse_row(std::string_view line, int from, TransitionMatrix& matrix, Place place) {
  const int classes = matrix.classes();
  int columns = 0;
  double sum = 0;
  for (bool more = true; more; ++columns) {
    const auto comma = line.find(',');
    more = comma != std::string_view::npos;
    if (columns < classes) {
      const double value = parse_probability(trimmed(line.substr(0, comma)), place);
      matrix(from, columns) = value;
      sum += value;
    }
    if (more) line.remove_prefix(comma + 1);
  }
  if (columns != classes) {
    fail(place, fmt::format("{} columns for {} classes; give a row and a column for each class", columns, classes));
  }
  if (std::abs(sum - 1) > sum_tolerance) fail(place, fmt::format("the row sums to {:.9g}, not to 1", sum));
  for (int to = 0; to < classes; ++to) matrix(from, to) /= sum;
}

}  // namespace

TransitionMatrix read_transition(std::istream& in, const std::string& name, int classes) {
  TransitionMatrix matrix(classes);
  std::vector<char> buffer(max_line);
  int rows = 0;
  int first_blank = 0;
  for (int line = 1; in.getline(buffer.data(), max_line) || in.gcount() > 0; ++line) {
    if (in.fail()) fail({name, line}, fmt::format("longer than {} characters", max_line));
    const auto length = static_cast<std::size_t>(in.gcount()) - (in.eof() ? 0 : 1);
    const std::string_view text = trimmed({buffer.data(), length});
    if (text.empty()) {
      if (first_blank == 0) first_blank = line;
      continue;
    }
    if (first_blank != 0) fail({name, first_blank}, "the line is blank");
    if (rows == classes) fail({name, line}, fmt::format("a row more than the {} classes", classes));
    parse_row(text, rows++, matrix, {name, line});
  }
  if (in.bad()) throw UserError(fmt::format("{}: cannot be read", name));
  if (rows != classes) {
    throw UserError(
        fmt::format("{}: {} rows for {} classes; give a row and a column for each class", name, rows, classes));
  }
  return matrix;
}

TransitionMatrix read_transition(const std::filesystem::path& file, int classes) {
  std::ifstream in(file);
  if (!in)
    throw UserError(fmt::format("{}: cannot be opened; give a CSV file with the transition matrix", file.string()));
  return read_transition(in, file.string(), classes);
}

void write_transition(const std::filesystem::path& file, const TransitionMatrix& matrix) {
  fmt::memory_buffer text;
  const int last = matrix.classes() - 1;
  for (int from = 0; from <= last; ++from) {
    const auto row = matrix.row(from);
    const bool empty = std::all_of(row.begin(), row.end(), [](double entry) { return entry == 0; });
    for (int to = 0; to <= last; ++to) {
      const double entry = empty && from == to ? 1 : matrix(from, to);
      fmt::format_to(std::back_inserter(text), "{}{}", entry, to == last ? '\n' : ',');
    }
  }
  write_file(file, {text.data(), text.size()});
}

}  // namespace regroup
