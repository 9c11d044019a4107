#include <fmt/format.h>

#include "regroup/io/csv.h"
#include "regroup/report/result_parts.h"
#include "regroup/report/result_table.h"

namespace regroup {
namespace {

std::string number(double value) { return fmt::format("{:.4f}", value); }

std::vector<std::string> fields_of(const ResultBlock& block, const ResultColumn& column, const ResultRow& row,
                                   const ResultCell& cell, bool with_paper) {
  std::vector<std::string> fields{block.label, column_name(column), row.label};
  fields.push_back(cell.ours ? number(cell.ours->mean) : "");
  fields.push_back(cell.ours && cell.ours->count > 1 ? number(cell.ours->deviation) : "");
  fields.push_back(std::to_string(cell.ours ? cell.ours->count : 0));
  if (with_paper) fields.push_back(cell.paper);
  fields.push_back(cell.difference ? number(cell.difference->value) : "");
  fields.push_back(cell.difference ? number(cell.difference->low) : "");
  fields.push_back(cell.difference ? number(cell.difference->high) : "");
  return fields;
}

}  // namespace

std::string csv_table(const ResultTable& table) {
  check_shape(table);
  const bool with_paper = has_paper(table);
  CsvWriter csv;
  std::vector<std::string> names{"block", "column", "row", "mean", "deviation", "seeds", "difference", "low", "high"};
  if (with_paper) names.insert(names.end() - 3, "paper");
  csv.row(names);
  for (const ResultBlock& block : table.blocks) {
    for (const ResultRow& row : block.rows) {
      for (std::size_t i = 0; i < row.cells.size(); ++i)
        csv.row(fields_of(block, block.columns[i], row, row.cells[i], with_paper));
    }
  }
  return csv.text();
}

}  // namespace regroup
