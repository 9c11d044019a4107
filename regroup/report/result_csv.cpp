#include <fmt/format.h>
#include <fmt/ranges.h>

#include "regroup/io/csv.h"
#include "regroup/report/result_parts.h"
#include "regroup/report/result_table.h"

namespace regroup {
namespace {

std::string number(double value) { return fmt::format("{:.4f}", value); }

std::string line(const ResultBlock& block, const ResultColumn& column, const ResultRow& row, const ResultCell& cell,
                 bool with_paper) {
  std::vector<std::string> fields = {csv_field(block.label), csv_field(column_name(column)), csv_field(row.label)};
  fields.push_back(cell.ours ? number(cell.ours->mean) : "");
  fields.push_back(cell.ours && cell.ours->count > 1 ? number(cell.ours->deviation) : "");
  fields.push_back(fmt::format("{}", cell.ours ? cell.ours->count : 0));
  if (with_paper) fields.push_back(csv_field(cell.paper));
  fields.push_back(cell.difference ? number(cell.difference->value) : "");
  fields.push_back(cell.difference ? number(cell.difference->low) : "");
  fields.push_back(cell.difference ? number(cell.difference->high) : "");
  return fmt::format("{}\n", fmt::join(fields, ","));
}

}  // namespace

std::string csv_table(const ResultTable& table) {
  check_shape(table);
  const bool with_paper = has_paper(table);
  std::string text =
      fmt::format("block,column,row,mean,deviation,seeds,{}difference,low,high\n", with_paper ? "paper," : "");
  for (const ResultBlock& block : table.blocks) {
    for (const ResultRow& row : block.rows) {
      for (std::size_t i = 0; i < row.cells.size(); ++i)
        text += line(block, block.columns[i], row, row.cells[i], with_paper);
    }
  }
  return text;
}

}  // namespace regroup
