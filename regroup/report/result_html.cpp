#include <fmt/format.h>

#include "regroup/report/result_parts.h"
#include "regroup/report/result_table.h"
#include "regroup/report/svg.h"

namespace regroup {
namespace {

std::string escaped(std::string_view text) { return xml_text(one_line(text)); }

std::string bold(const std::string& text, bool is_bold) { return is_bold ? "<b>" + text + "</b>" : text; }

std::string paragraph(std::string_view style, const std::string& words) {
  return words.empty() ? "" : fmt::format("<p class=\"{}\">{}</p>\n", style, escaped(words));
}

std::string head(const ResultBlock& block) {
  const std::vector<ColumnGroup> groups = column_groups(block);
  std::string text = fmt::format("<thead>\n<tr><td{}></td>", groups.empty() ? "" : R"( rowspan="2")");
  for (const ColumnGroup& group : groups)
    text += fmt::format(R"(<th scope="colgroup" colspan="{}">{}</th>)", group.columns, escaped(group.label));
  if (!groups.empty()) text += "</tr>\n<tr>";
  for (const ResultColumn& column : block.columns)
    text += fmt::format("<th scope=\"col\">{}</th>", escaped(column.label));
  return text + "</tr>\n</thead>\n";
}

/// A table in a box that it can be moved in where the screen is narrow.
std::string boxed(const ResultBlock& block, std::string_view style, const std::string& rows) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\">\n<table class=\"{}\">\n{}<tbody>\n{}</tbody>\n</table>\n</div>\n", style,
      head(block), rows);
}

std::string row_start(const ResultRow& row, const std::string& reference) {
  const bool is_reference = row.label == reference;
  return fmt::format("<tr{}><th scope=\"row\">{}</th>", is_reference ? " class=\"reference\"" : "", escaped(row.label));
}

std::string figure_cell(const ResultCell& cell, bool is_best, bool is_paper_best, const Remarks& remarks) {
  const std::string remark = remarks.text(cell);
  std::string text = bold(escaped(ours_text(cell)), is_best);
  if (!remark.empty()) {
    text = fmt::format("<span title=\"{}\">{}<sup>{}</sup></span>", escaped(remark), text, remarks.letter(cell));
  }
  if (!cell.paper.empty())
    text += fmt::format("<span class=\"paper\">{}</span>", bold(escaped(cell.paper), is_paper_best));
  return fmt::format("<td{}>{}</td>", cell.ours ? "" : " class=\"missing\"", text);
}

std::string figures(const ResultBlock& block, const Remarks& remarks) {
  const BestCells best = best_cells(block);
  std::string rows;
  for (std::size_t row = 0; row < block.rows.size(); ++row) {
    rows += row_start(block.rows[row], block.reference);
    for (std::size_t column = 0; column < block.columns.size(); ++column) {
      rows += figure_cell(block.rows[row].cells[column], best.ours[row][column], best.paper[row][column], remarks);
    }
    rows += "</tr>\n";
  }
  return boxed(block, "figures", rows);
}

std::string differences(const ResultBlock& block) {
  std::string rows;
  for (const ResultRow& row : block.rows) {
    rows += row_start(row, "");
    for (const ResultCell& cell : row.cells) {
      if (!cell.difference) {
        rows += "<td class=\"missing\">\u2013</td>";
        continue;
      }
      rows += fmt::format("<td>{}<span class=\"paper\">{}</span></td>",
                          bold(signed_text(cell.difference->value), cell.difference->beyond_chance()),
                          interval_text(*cell.difference));
    }
    rows += "</tr>\n";
  }
  return boxed(block, "differences", rows);
}

}  // namespace

std::string html_table(const ResultTable& table) {
  check_shape(table);
  const Remarks remarks(table);
  std::string text = fmt::format("<h2>{}</h2>\n", escaped(table.title));
  text += paragraph("caption", table.caption) + paragraph("scale", table.scale);
  if (!table.blocks.empty()) text += paragraph("legend", legend(table, "below it in small print"));
  for (const ResultBlock& block : table.blocks) {
    if (!block.label.empty()) text += fmt::format("<h3>{}</h3>\n", escaped(block.label));
    text += figures(block, remarks);
    const ResultBlock compared = rows_with_differences(block);
    if (!compared.rows.empty())
      text += paragraph("legend", difference_heading(block.reference)) + differences(compared);
  }
  for (std::size_t i = 0; i < remarks.texts().size(); ++i) {
    text +=
        fmt::format("<p class=\"legend\"><sup>{}</sup> {}</p>\n", Remarks::letter_at(i), escaped(remarks.texts()[i]));
  }
  if (!table.notes.empty()) text += "<ul class=\"notes\">\n";
  for (const std::string& note : table.notes) text += fmt::format("<li>{}</li>\n", escaped(note));
  if (!table.notes.empty()) text += "</ul>\n";
  return text;
}

}  // namespace regroup
