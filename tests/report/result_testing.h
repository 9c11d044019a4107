#pragma once

#include <string>

#include "regroup/report/result_table.h"

namespace regroup {

inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// Three methods and three columns, with everything that a cell can have.
inline ResultTable small_table() {
  using Difference = ResultDifference;
  ResultTable table;
  table.id = "table1";
  table.title = "Table 1";
  table.caption = "Test accuracy (%)";
  table.notes = {"The paper disagrees with itself."};
  table.scale = "Scale: 2 epochs of 100 images.";
  table.seeds = 3;
  ResultBlock block;
  block.label = "CIFAR-10";
  block.reference = "RML";
  block.columns = {{"Symmetric", "0.2", false}, {"Symmetric", "0.5", false}, {"Pairflip", "0.45", false}};
  block.rows = {
      {"CE",
       {{Measured{84.1, 0.5, 3}, "84.00 \u00b1 0.66", "", Difference{-8.25, -9.1, -7.4}},
        {Measured{75, 1, 2}, "75.51 \u00b1 1.24", "", Difference{-0.4, -1, 0.2}},
        {std::nullopt, "63.34 \u00b1 6.03", "failed: out of memory", std::nullopt}}},
      {"PES",
       {{std::nullopt, "92.38 \u00b1 0.40", "not built yet", std::nullopt},
        {std::nullopt, "87.45 \u00b1 0.35", "not built yet", std::nullopt},
        {std::nullopt, "88.43 \u00b1 1.08", "not built yet", std::nullopt}}},
      {"RML",
       {{Measured{92.35, 0.1, 3}, "92.89 \u00b1 0.42", "", std::nullopt},
        {Measured{89, 0, 1}, "89.13 \u00b1 0.21", "1 of 3 runs done", std::nullopt},
        {Measured{90, 0.3, 3}, "90.54 \u00b1 0.34", "", std::nullopt}}},
  };
  table.blocks = {block};
  return table;
}

/// The same with text everywhere that would like to be more than text.
inline ResultTable hostile_table() {
  const std::string hostile =
      "[x]*<script>alert(1)</script>\" onmouseover=\"x &amp; ' ]]> \\input{/etc/passwd} $ % # _ ^ ~ { } -- | `\n\n\x1b"
      "\xff \u00e9 \u00fe \u732b";
  ResultTable table = small_table();
  table.title = table.caption = table.scale = hostile;
  table.id = "../\"><script>";
  table.notes = {hostile};
  ResultBlock& block = table.blocks[0];
  block.label = block.reference = hostile;
  for (ResultColumn& column : block.columns) column.group = column.label = hostile;
  for (ResultRow& row : block.rows) {
    row.label = hostile;
    for (ResultCell& cell : row.cells) cell.paper = cell.remark = hostile;
  }
  return table;
}

}  // namespace regroup
