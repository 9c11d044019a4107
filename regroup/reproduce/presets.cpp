#include "regroup/reproduce/presets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "regroup/core/error.h"
#include "regroup/reproduce/grid.h"

namespace regroup {
namespace {

/// Where a preset stands.
struct Cell {
  const Grid* grid;
  const GridBlock* block;
  const GridColumn* column;
};

const std::vector<Cell>& cells() {
  static const std::vector<Grid> grids = [] {
    std::vector<Grid> all;
    for (const BuiltIn& one : built_in_grids()) all.push_back(find_grid(std::string(one.name)));
    return all;
  }();
  static const std::vector<Cell> found = [] {
    std::vector<Cell> all;
    for (const Grid& grid : grids)
      for (const GridBlock& block : grid.blocks)
        for (const GridColumn& column : block.columns)
          if (!column.preset.empty()) all.push_back({&grid, &block, &column});
    std::ranges::sort(all, {}, [](const Cell& cell) { return cell.column->preset; });
    return all;
  }();
  return found;
}

const Cell& cell_named(std::string_view name) {
  const auto found = std::ranges::find(cells(), name, [](const Cell& cell) { return cell.column->preset; });
  if (found != cells().end()) return *found;
  std::vector<std::string_view> names;
  for (const Preset& preset : presets()) names.push_back(preset.name);
  throw UserError(fmt::format("unknown preset '{}'; known: {}", name, fmt::join(names, ", ")));
}

/// The row of a method, or nothing.
const GridRow* row_of(const GridBlock& block, std::string_view method) {
  const auto found = std::ranges::find(block.rows, method, &GridRow::method);
  return found == block.rows.end() ? nullptr : &*found;
}

const GridRow& reference_row(const GridBlock& block) {
  return *std::ranges::find(block.rows, block.reference, &GridRow::label);
}

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = [] {
    std::vector<Preset> made;
    for (const auto& [grid, block, column] : cells()) {
      std::string title = fmt::format("{}: {}", grid->title, block->label);
      if (!column->group.empty()) title += fmt::format(", {} {}", column->group, column->label);
      made.push_back({column->preset, title});
    }
    return made;
  }();
  return all;
}

std::vector<GivenValue> preset_values(std::string_view name, std::string_view method) {
  const auto& [grid, block, column] = cell_named(name);
  const GridRow& reference = reference_row(*block);
  const GridRow* const row = row_of(*block, method.empty() ? reference.method : method);
  std::vector<GivenValue> values;
  const auto add = [&](const std::vector<GivenValue>& more) {
    for (const GivenValue& value : more) {
      std::erase_if(values, [&](const GivenValue& weaker) { return weaker.name == value.name; });
      values.push_back(value);
    }
  };
  add(grid->values);
  add(block->values);
  add(column->values);
  add({{"method", row != nullptr ? row->method : reference.method, fmt::format("preset {}", name)}});
  if (row != nullptr) add(row->values);
  for (GivenValue& value : values) value.optional = true;
  return values;
}

std::string preset_need(std::string_view name, const Settings& settings) {
  const Cell& cell = cell_named(name);
  for (const auto& [setting, reason] : cell.grid->needs)
    if (settings.text(setting).empty()) return fmt::format("preset {}: {} is not given; {}", name, setting, reason);
  const GridRow* const row = row_of(*cell.block, settings.text("method"));
  if (row != nullptr && !row->after.empty() && settings.declared("ce-weights") && settings.text("ce-weights").empty())
    return fmt::format(
        "preset {}: ce-weights is not given; {} starts from a finished run of {}, whose epochs are not among its own; "
        "now its first epochs are cross-entropy",
        name, row->label, row->after);
  return {};
}

}  // namespace regroup
