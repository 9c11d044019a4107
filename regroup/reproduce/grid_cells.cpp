#include "regroup/reproduce/grid_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "regroup/core/error.h"

namespace regroup {
namespace {

Cell read_cell(const GridFolder& folder, const Grid& grid, const Scale& scale, const GridBlock& block,
               const GridRow& row, const GridColumn& column) {
  Cell cell;
  try {
    cell.runs = cell_runs(grid, scale, block, row, column);
  } catch (const UserError& error) {
    // A file that it names is gone, maybe since another time that the grid was run. The rest has its figures.
    cell.failure = error.what();
  }
  for (const PlannedRun& run : cell.runs) {
    const RunState state = folder.state(run.name);
    if (state.kind == RunState::Kind::failed && cell.failure.empty()) cell.failure = state.reason;
    if (state.kind != RunState::Kind::done) continue;
    RunOutcome outcome = read_outcome(folder.run(run.name), column.test);
    if (outcome.accuracies.empty()) {
      cell.failure = fmt::format("{} has no test set {}", run.name, column.test);
    } else {
      try {
        if (std::ranges::find(grid.shown, Shown::audit) != grid.shown.end())
          outcome.audit = audit_figures(folder.run(run.name));
      } catch (const UserError& error) {
        cell.failure = error.what();
      }
      if (grid.against == "minutes")
        outcome.against = minutes(outcome);
      else if (!grid.against.empty())
        outcome.against = late_mean(folder.run(run.name), grid.against);
      cell.done[run.settings.integer("seed")] = std::move(outcome);
    }
  }
  return cell;
}

}  // namespace

const PlannedRun& Cell::run(std::int64_t seed) const {
  return *std::find_if(runs.begin(), runs.end(),
                       [&](const PlannedRun& run) { return run.settings.integer("seed") == seed; });
}

double minutes(const RunOutcome& outcome) { return outcome.summary.seconds / 60; }

double memory_gb(const RunOutcome& outcome) { return outcome.summary.peak_memory_mb / 1024; }

std::optional<Measured> measured(const Cell& cell, const Figure& figure) {
  Measured result;
  std::vector<double> values;
  for (const auto& [seed, outcome] : cell.done)
    if (const double value = figure(outcome); !std::isnan(value)) values.push_back(value);
  if (values.empty()) return std::nullopt;
  result.count = static_cast<int>(values.size());
  for (const double value : values) result.mean += value / result.count;
  for (const double value : values) result.deviation += (value - result.mean) * (value - result.mean);
  if (result.count > 1) result.deviation = std::sqrt(result.deviation / (result.count - 1));
  return result;
}

std::string name_of(const GridColumn& column) {
  return column.group.empty() ? column.label : column.group + " " + column.label;
}

bool has_paper(const Grid& grid) {
  const auto in_row = [](const GridRow& row) { return !row.paper.empty(); };
  return !grid.source.empty() || std::any_of(grid.blocks.begin(), grid.blocks.end(), [&](const GridBlock& block) {
    return std::any_of(block.rows.begin(), block.rows.end(), in_row);
  });
}

GridCells::GridCells(const GridFolder& folder, const Grid& grid, const Scale& scale)
    : folder_(folder), grid_(grid), scale_(scale) {
  for (const GridBlock& block : grid.blocks)
    for (const GridRow& row : block.rows)
      for (const GridColumn& column : block.columns)
        cells_[{&row, &column}] = read_cell(folder, grid, scale, block, row, column);
}

}  // namespace regroup
