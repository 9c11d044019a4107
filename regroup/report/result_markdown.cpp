#include <fmt/format.h>

#include "regroup/report/result_parts.h"
#include "regroup/report/result_table.h"
#include "regroup/report/svg.h"

namespace regroup {
namespace {

/// Text that Markdown shows as it is. HTML inside it is text as well.
std::string escaped(std::string_view text) {
  constexpr std::string_view quote = "&quot;";
  std::string result;
  const std::string plain = xml_text(one_line(text));
  for (std::size_t at = 0; at < plain.size(); ++at) {
    if (plain.compare(at, quote.size(), quote) == 0) {
      result += '"';
      at += quote.size() - 1;
      continue;
    }
    if (std::string_view("\\`*_[]|~#!$").find(plain[at]) != std::string_view::npos) result += '\\';
    result += plain[at];
  }
  return result;
}

std::string bold(const std::string& text, bool is_bold) { return is_bold ? "**" + text + "**" : text; }

std::string superscript(const std::string& letter) { return letter.empty() ? "" : "<sup>" + letter + "</sup>"; }

std::string line(const std::string& first, const std::vector<std::string>& cells) {
  std::string text = "| " + first + " |";
  for (const std::string& cell : cells) text += " " + cell + " |";
  return text + "\n";
}

std::string header(const ResultBlock& block) {
  std::vector<std::string> names;
  for (const ResultColumn& column : block.columns) names.push_back(escaped(column_name(column)));
  return line("", names) + line("---", std::vector<std::string>(names.size(), "---:"));
}

std::string figures(const ResultBlock& block, const Remarks& remarks) {
  const BestCells best = best_cells(block);
  std::string text = header(block);
  for (std::size_t row = 0; row < block.rows.size(); ++row) {
    std::vector<std::string> cells;
    for (std::size_t column = 0; column < block.columns.size(); ++column) {
      const ResultCell& cell = block.rows[row].cells[column];
      std::string shown = bold(ours_text(cell), best.ours[row][column]) + superscript(remarks.letter(cell));
      if (!cell.paper.empty()) shown += fmt::format(" ({})", bold(escaped(cell.paper), best.paper[row][column]));
      cells.push_back(shown);
    }
    text += line(escaped(block.rows[row].label), cells);
  }
  return text;
}

std::string differences(const ResultBlock& block) {
  std::string text = header(block);
  for (const ResultRow& row : block.rows) {
    std::vector<std::string> cells;
    for (const ResultCell& cell : row.cells) {
      if (!cell.difference) {
        cells.emplace_back("\u2013");
        continue;
      }
      const std::string shown = signed_text(cell.difference->value) + " " + escaped(interval_text(*cell.difference));
      cells.push_back(bold(shown, cell.difference->beyond_chance()));
    }
    text += line(escaped(row.label), cells);
  }
  return text;
}

}  // namespace

std::string markdown_table(const ResultTable& table) {
  check_shape(table);
  const Remarks remarks(table);
  std::string text = fmt::format("## {}\n", escaped(table.title));
  const auto paragraph = [&](const std::string& words) {
    if (!words.empty()) text += fmt::format("\n{}\n", escaped(words));
  };
  paragraph(table.caption);
  paragraph(table.scale);
  if (!table.blocks.empty()) paragraph(legend(table, "in brackets"));
  for (const ResultBlock& block : table.blocks) {
    if (!block.label.empty()) text += fmt::format("\n### {}\n", escaped(block.label));
    text += fmt::format("\n{}", figures(block, remarks));
    const ResultBlock compared = rows_with_differences(block);
    if (compared.rows.empty()) continue;
    paragraph(difference_heading(block.reference));
    text += fmt::format("\n{}", differences(compared));
  }
  for (std::size_t i = 0; i < remarks.texts().size(); ++i)
    text += fmt::format("\n{} {}\n", superscript(Remarks::letter_at(i)), escaped(remarks.texts()[i]));
  if (!table.notes.empty()) text += "\n";
  for (const std::string& note : table.notes) text += fmt::format("- {}\n", escaped(note));
  return text;
}

}  // namespace regroup
