#pragma once

#include <optional>
#include <string>
#include <vector>

namespace regroup {

// Results in the layout of a paper's table, ours beside the paper's, and how they are written. All text may be any
// text: each way of writing escapes it.

/// Over the seeds of one cell, in the unit of its column, which mostly is percent.
struct Measured {
  double mean = 0;
  double deviation = 0;  ///< means nothing where there is one seed
  int count = 0;         ///< seeds
};

/// To the reference row, in points, with the ends of its 95 % interval.
struct ResultDifference {
  double value = 0;
  double low = 0;
  double high = 0;

  bool beyond_chance() const { return low > 0 || high < 0; }
};

struct ResultCell {
  std::optional<Measured> ours;
  std::string paper;   ///< for instance "84.00 ± 0.66"; empty: the paper has none
  std::string remark;  ///< why ours is missing or not complete, for instance "not built yet"
  std::optional<ResultDifference> difference;
};

struct ResultColumn {
  std::string group;  ///< a heading over neighbours that share it, for instance "Symmetric"; or none
  std::string label;  ///< for instance "0.2"
  bool lower_is_better = false;
};

struct ResultRow {
  std::string label;
  std::vector<ResultCell> cells;  ///< one a column
};

struct ResultBlock {
  std::string label;  ///< for instance "CIFAR-10"
  std::vector<ResultColumn> columns;
  std::vector<ResultRow> rows;
  std::string reference;  ///< the row that differences are to
};

struct ResultTable {
  std::string id;       ///< for instance "table1"
  std::string title;    ///< for instance "Table 1"
  std::string caption;  ///< a sentence about what it shows, in words of our own
  std::vector<std::string> notes;
  std::string scale;  ///< a sentence about how large our runs were
  int seeds = 0;      ///< asked for; a cell with fewer is marked. 0: none is
  std::vector<ResultBlock> blocks;
};

// In each of these, a figure is mean ± deviation, the mean alone where there was one seed; the best of a column, ours
// and the paper's apart, is bold where there are two to compare; what is missing is a dash, and a letter leads to the
// reason; differences follow in a table of their own, bold where the interval leaves out 0. A row with too many or too
// few cells is std::invalid_argument.

/// 89.02 ± 0.31 (89.13 ± 0.21)
std::string markdown_table(const ResultTable& table);

/// A line per cell: block,column,row,mean,deviation,seeds,paper,difference,low,high. What is missing is empty; without
/// any figure of the paper there is no such column.
std::string csv_table(const ResultTable& table);

/// Floats for any document that loads booktabs, the paper's figures under ours.
std::string latex_table(const ResultTable& table);

/// What stands in a section of result_page, which has the style.
std::string html_table(const ResultTable& table);

}  // namespace regroup
