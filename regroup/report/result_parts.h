#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "regroup/report/result_table.h"

namespace regroup {

// What all ways of writing a ResultTable share. The texts are plain: the caller escapes them.

/// Whether a cell has a figure of the paper.
bool has_paper(const ResultTable& table);

/// "Symmetric 0.2"
std::string column_name(const ResultColumn& column);

/// "89.02 ± 0.31", "89.02", or a dash where there is nothing.
std::string ours_text(const ResultCell& cell);

/// "+1.20", "−5.03", "0.00"
std::string signed_text(double value);

/// "[−5.60, −4.47]"
std::string interval_text(const ResultDifference& difference);

/// One line: control characters, line ends among them, are spaces.
std::string one_line(std::string_view text);

/// What can be the name of a place in HTML and LaTeX: lower case letters, digits and dashes.
std::string anchor(std::string_view id);

/// How the figures are to be read. `place` is where the paper's stand, for instance "in brackets".
std::string legend(const ResultTable& table, std::string_view place);

/// "Difference to RML in points, with its 95 % interval. Bold: beyond chance, the interval leaves out 0."
std::string difference_heading(const std::string& reference);

/// The block with the rows that have a difference; without rows where none has.
ResultBlock rows_with_differences(const ResultBlock& block);

/// Throws std::invalid_argument where a row has not as many cells as there are columns.
void check_shape(const ResultTable& table);

/// Which cells are the best of their column, row by row. Figures that read the same are equally good.
struct BestCells {
  std::vector<std::vector<bool>> ours;
  std::vector<std::vector<bool>> paper;
};

BestCells best_cells(const ResultBlock& block);

/// Columns under one heading.
struct ColumnGroup {
  std::string label;
  std::size_t columns = 0;
};

/// The groups in order; without any heading there are none.
std::vector<ColumnGroup> column_groups(const ResultBlock& block);

/// The remarks of a table's cells, each once, with letters that lead to them.
class Remarks {
 public:
  explicit Remarks(const ResultTable& table);

  /// What is to be said about a cell, for instance "2 of 5 seeds"; mostly nothing.
  std::string text(const ResultCell& cell) const;
  /// "a", "b", ..., "z", "aa"; nothing where there is no remark.
  std::string letter(const ResultCell& cell) const;
  const std::vector<std::string>& texts() const { return texts_; }
  static std::string letter_at(std::size_t index);

 private:
  int seeds_;
  std::vector<std::string> texts_;
};

}  // namespace regroup
