#include "regroup/report/result_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <stdexcept>

namespace regroup {
namespace {

constexpr std::string_view minus = "\u2212";

/// The number that a text starts with, as in "84.00 ± 0.66".
std::optional<double> leading_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// As it is shown, so that figures that read the same are equally good.
std::optional<double> ours_number(const ResultCell& cell) {
  if (!cell.ours || !std::isfinite(cell.ours->mean)) return std::nullopt;
  return leading_number(fmt::format("{:.2f}", cell.ours->mean));
}

std::optional<double> paper_number(const ResultCell& cell) { return leading_number(cell.paper); }

using Figure = std::function<std::optional<double>(const ResultCell&)>;

std::vector<std::vector<bool>> best_by(const ResultBlock& block, const Figure& figure) {
  std::vector<std::vector<bool>> best(block.rows.size(), std::vector<bool>(block.columns.size(), false));
  for (std::size_t column = 0; column < block.columns.size(); ++column) {
    std::vector<double> values;
    for (const ResultRow& row : block.rows) {
      if (const auto value = figure(row.cells[column])) values.push_back(*value);
    }
    if (values.size() < 2) continue;
    const auto [lowest, highest] = std::ranges::minmax(values);
    const double best_value = block.columns[column].lower_is_better ? lowest : highest;
    for (std::size_t row = 0; row < block.rows.size(); ++row)
      best[row][column] = figure(block.rows[row].cells[column]) == best_value;
  }
  return best;
}

}  // namespace

bool has_paper(const ResultTable& table) {
  const auto in_cell = [](const ResultCell& cell) { return !cell.paper.empty(); };
  const auto in_row = [&](const ResultRow& row) { return std::ranges::any_of(row.cells, in_cell); };
  return std::ranges::any_of(table.blocks,
                             [&](const ResultBlock& block) { return std::ranges::any_of(block.rows, in_row); });
}

std::string column_name(const ResultColumn& column) {
  if (column.group.empty() || column.label.empty()) return column.group + column.label;
  return column.group + " " + column.label;
}

std::string ours_text(const ResultCell& cell) {
  if (!cell.ours) return "\u2013";
  if (cell.ours->count < 2) return fmt::format("{:.2f}", cell.ours->mean);
  return fmt::format("{:.2f} \u00b1 {:.2f}", cell.ours->mean, cell.ours->deviation);
}

std::string signed_text(double value) {
  std::string digits = fmt::format("{:.2f}", std::abs(value));
  if (digits == "0.00") return digits;
  return std::string(value < 0 ? minus : "+") + digits;
}

std::string interval_text(const ResultDifference& difference) {
  return fmt::format("[{}, {}]", signed_text(difference.low), signed_text(difference.high));
}

std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return line;
}

std::string anchor(std::string_view id) {
  std::string name;
  for (const char c : id) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    name += is_upper ? static_cast<char>(c - 'A' + 'a') : is_plain ? c : '-';
  }
  return name;
}

std::string legend(const ResultTable& table, std::string_view place) {
  const std::string seeds = table.seeds > 1 ? fmt::format(" over {} seeds", table.seeds) : "";
  const std::string paper = has_paper(table) ? fmt::format("; the paper's is {}", place) : "";
  return fmt::format("{} \u00b1 standard deviation{}{}. Bold: the best of its column.",
                     paper.empty() ? "Mean" : "Ours is mean", seeds, paper);
}

std::string difference_heading(const std::string& reference) {
  return fmt::format(
      "Difference to {} in points, with its 95 % interval. Bold: beyond chance, the interval leaves out 0.", reference);
}

ResultBlock rows_with_differences(const ResultBlock& block) {
  ResultBlock result = block;
  std::erase_if(result.rows, [](const ResultRow& row) {
    return std::ranges::none_of(row.cells, [](const ResultCell& cell) { return cell.difference.has_value(); });
  });
  return result;
}

void check_shape(const ResultTable& table) {
  for (const ResultBlock& block : table.blocks) {
    for (const ResultRow& row : block.rows) {
      if (row.cells.size() == block.columns.size()) continue;
      throw std::invalid_argument(fmt::format("result table '{}': row '{}' has {} cells for {} columns", table.id,
                                              row.label, row.cells.size(), block.columns.size()));
    }
  }
}

BestCells best_cells(const ResultBlock& block) { return {best_by(block, ours_number), best_by(block, paper_number)}; }

std::vector<ColumnGroup> column_groups(const ResultBlock& block) {
  std::vector<ColumnGroup> groups;
  bool has_heading = false;
  for (const ResultColumn& column : block.columns) {
    if (groups.empty() || groups.back().label != column.group) groups.push_back({column.group, 0});
    ++groups.back().columns;
    has_heading = has_heading || !column.group.empty();
  }
  return has_heading ? groups : std::vector<ColumnGroup>{};
}

Remarks::Remarks(const ResultTable& table) : seeds_(table.seeds) {
  for (const ResultBlock& block : table.blocks) {
    for (const ResultRow& row : block.rows) {
      for (const ResultCell& cell : row.cells) {
        const std::string remark = text(cell);
        if (!remark.empty() && std::ranges::find(texts_, remark) == texts_.end()) texts_.push_back(remark);
      }
    }
  }
}

std::string Remarks::text(const ResultCell& cell) const {
  if (!cell.remark.empty() || !cell.ours || cell.ours->count >= seeds_) return cell.remark;
  return fmt::format("{} of {} seeds", cell.ours->count, seeds_);
}

std::string Remarks::letter(const ResultCell& cell) const {
  const std::string remark = text(cell);
  if (remark.empty()) return "";
  return letter_at(static_cast<std::size_t>(std::ranges::find(texts_, remark) - texts_.begin()));
}

std::string Remarks::letter_at(std::size_t index) {
  const std::string last(1, static_cast<char>('a' + index % 26));
  return index < 26 ? last : letter_at(index / 26 - 1) + last;
}

}  // namespace regroup
