#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "regroup/report/result_parts.h"
#include "regroup/report/result_table.h"

namespace regroup {
namespace {

// Brackets and stars could be taken for arguments of the \\ before them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 31> replacements = {{
    {" \u00b1 ", R"(\,$\pm$\,)"},
    {"\\", "\\textbackslash{}"},
    {"~", "\\textasciitilde{}"},
    {"^", "\\textasciicircum{}"},
    {"`", "\\`{}"},
    {"&", "\\&"},
    {"%", "\\%"},
    {"$", "\\$"},
    {"#", "\\#"},
    {"_", "\\_"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"[", "{[}"},
    {"]", "{]}"},
    {"*", "{*}"},
    {"<", "$<$"},
    {">", "$>$"},
    {"|", "$|$"},
    {"\"", "''"},
    {"\u00b1", "$\\pm$"},
    {"\u00d7", "$\\times$"},
    {"\u00f7", "$\\div$"},
    {"\u00b0", "$^\\circ$"},
    {"\u00a0", "~"},
    {"\u2212", "$-$"},
    {"\u2013", "--"},
    {"\u2014", "---"},
    {"\u2018", "`"},
    {"\u2019", "'"},
    {"\u201c", "``"},
    {"\u201d", "''"},
}};

/// The letters of Latin-1 that TeX's own fonts have, as two bytes of UTF-8.
bool is_western_letter(std::string_view text) {
  if (text.size() < 2 || text[0] != '\xc3') return false;
  const auto second = static_cast<unsigned char>(text[1]);
  constexpr std::string_view without = "\x90\x9e\xb0\xbe";  // eth and thorn
  return second >= 0x80 && second <= 0xbf && without.find(text[1]) == std::string_view::npos;
}

/// Text that LaTeX sets as it is; a question mark stands for characters that its fonts do not have.
std::string escaped(std::string_view text) {
  std::string result;
  const std::string plain = one_line(text);
  std::string_view rest = plain;
  while (!rest.empty()) {
    const auto* const found = std::find_if(replacements.begin(), replacements.end(),
                                           [&](const auto& entry) { return rest.starts_with(entry.first); });
    if (found != replacements.end()) {
      result += found->second;
      rest.remove_prefix(found->first.size());
    } else if (static_cast<unsigned char>(rest[0]) < 0x80) {
      result += rest[0];
      if (rest.starts_with("--")) result += "{}";  // or two dashes become one long one
      rest.remove_prefix(1);
    } else if (is_western_letter(rest)) {
      result += rest.substr(0, 2);
      rest.remove_prefix(2);
    } else {
      result += '?';
      rest.remove_prefix(1);
      while (!rest.empty() && (static_cast<unsigned char>(rest[0]) & 0xc0U) == 0x80U) rest.remove_prefix(1);
    }
  }
  return result;
}

std::string bold(const std::string& text, bool is_bold) { return is_bold ? "\\textbf{" + text + "}" : text; }

std::string small(const std::string& text) { return text.empty() ? "" : fmt::format("{{\\scriptsize {}}}", text); }

std::string superscript(const std::string& letter) { return letter.empty() ? "" : "\\textsuperscript{" + letter + "}"; }

std::string line(const std::string& first, const std::vector<std::string>& cells) {
  std::string text = first;
  for (const std::string& cell : cells) text += " & " + cell;
  return text + " \\\\\n";
}

/// Two lines a row, the second in small print where it has anything.
struct Lines {
  std::string label;
  std::vector<std::string> upper;
  std::vector<std::string> lower;
};

std::string tabular(const ResultBlock& block, const std::vector<Lines>& rows) {
  std::string text =
      fmt::format("\\begin{{tabular}}{{@{{}}l{}@{{}}}}\n\\toprule\n", std::string(block.columns.size(), 'c'));
  std::string groups, rules;
  std::size_t first = 2;
  for (const ColumnGroup& group : column_groups(block)) {
    groups += fmt::format(" & \\multicolumn{{{}}}{{c}}{{{}}}", group.columns, escaped(group.label));
    if (!group.label.empty()) rules += fmt::format("\\cmidrule(lr){{{}-{}}}", first, first + group.columns - 1);
    first += group.columns;
  }
  if (!groups.empty()) text += groups + " \\\\\n" + rules + "\n";
  std::vector<std::string> names;
  for (const ResultColumn& column : block.columns) names.push_back(escaped(column.label));
  text += line(escaped(block.label), names) + "\\midrule\n";
  for (const Lines& row : rows) {
    if (&row != &rows.front()) text += "\\addlinespace[2pt]\n";
    text += line(row.label, row.upper);
    if (!fmt::format("{}", fmt::join(row.lower, "")).empty()) text += line("", row.lower);
  }
  return text + "\\bottomrule\n\\end{tabular}\n";
}

std::string figures(const ResultBlock& block, const Remarks& remarks) {
  const BestCells best = best_cells(block);
  std::vector<Lines> rows;
  for (std::size_t row = 0; row < block.rows.size(); ++row) {
    Lines lines{escaped(block.rows[row].label), {}, {}};
    for (std::size_t column = 0; column < block.columns.size(); ++column) {
      const ResultCell& cell = block.rows[row].cells[column];
      lines.upper.push_back(bold(escaped(ours_text(cell)), best.ours[row][column]) + superscript(remarks.letter(cell)));
      const std::string paper = cell.paper.empty() ? "" : fmt::format("({})", escaped(cell.paper));
      lines.lower.push_back(small(bold(paper, best.paper[row][column])));
    }
    rows.push_back(lines);
  }
  return tabular(block, rows);
}

std::string differences(const ResultBlock& block) {
  std::vector<Lines> rows;
  for (const ResultRow& row : block.rows) {
    Lines lines{escaped(row.label), {}, {}};
    for (const ResultCell& cell : row.cells) {
      const bool is_bold = cell.difference && cell.difference->beyond_chance();
      lines.upper.push_back(bold(escaped(cell.difference ? signed_text(cell.difference->value) : "\u2013"), is_bold));
      lines.lower.push_back(small(cell.difference ? escaped(interval_text(*cell.difference)) : ""));
    }
    rows.push_back(lines);
  }
  return tabular(block, rows);
}

std::string table_float(const std::string& caption, const std::string& label, const std::string& content) {
  return fmt::format(
      "\\begin{{table}}[htbp]\n\\centering\n\\footnotesize\n\\setlength{{\\tabcolsep}}{{3pt}}\n"
      "\\caption{{{}}}\n\\label{{{}}}\n{}\\end{{table}}\n",
      caption, label, content);
}

std::string sentences(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!text.empty()) text += ' ';
    text += escaped(part);
    if (!part.ends_with('.')) text += '.';
  }
  return text;
}

}  // namespace

std::string latex_table(const ResultTable& table) {
  check_shape(table);
  const Remarks remarks(table);
  constexpr std::string_view gap = "\n\\par\\medskip\n";
  std::string content, compared_content;
  for (const ResultBlock& block : table.blocks) {
    if (!content.empty()) content += gap;
    content += figures(block, remarks);
    const ResultBlock compared = rows_with_differences(block);
    if (compared.rows.empty()) continue;
    if (!compared_content.empty()) compared_content += gap;
    compared_content +=
        fmt::format("{}\n\\par\\smallskip\n{}", escaped(difference_heading(block.reference)), differences(compared));
  }
  std::vector<std::string> below;
  for (std::size_t i = 0; i < remarks.texts().size(); ++i)
    below.push_back(superscript(Remarks::letter_at(i)) + "~" + escaped(remarks.texts()[i]) + ".");
  for (const std::string& note : table.notes) below.push_back(sentences({note}));
  if (!below.empty()) content += fmt::format("{}\\raggedright {}\\par\n", gap, fmt::join(below, " "));

  const std::string explained = table.blocks.empty() ? "" : legend(table, "below it in brackets");
  const std::string label = fmt::format("tab:{}", anchor(table.id));
  std::string text = table_float(sentences({table.caption, table.scale, explained}), label, content);
  if (!compared_content.empty())
    text += fmt::format(
        "\n{}", table_float(sentences({table.caption + ": differences"}), label + "-differences", compared_content));
  return text;
}

}  // namespace regroup
