#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "regroup/report/result_table.h"
#include "regroup/reproduce/run_outcome.h"
#include "regroup/reproduce/runner.h"

namespace regroup {

/// The runs of one cell, and what those that are done have found.
struct Cell {
  std::vector<PlannedRun> runs;
  std::map<std::int64_t, RunOutcome> done;  ///< by seed
  std::string failure;                      ///< the reason of the first that failed

  const PlannedRun& run(std::int64_t seed) const;
};

/// One figure of a run; not a number where it has none.
using Figure = std::function<double(const RunOutcome&)>;

double minutes(const RunOutcome& outcome);
double memory_gb(const RunOutcome& outcome);

/// Over the seeds that are done and have the figure.
std::optional<Measured> measured(const Cell& cell, const Figure& figure);

/// "Symmetric 0.5"
std::string name_of(const GridColumn& column);

/// Whether the grid has figures of the paper beside its own.
bool has_paper(const Grid& grid);

/// What the runs in a folder have found for one grid, read once. Folder, grid and scale must outlive it.
class GridCells {
 public:
  GridCells(const GridFolder& folder, const Grid& grid, const Scale& scale);

  const GridFolder& folder() const { return folder_; }
  const Grid& grid() const { return grid_; }
  const Scale& scale() const { return scale_; }
  const Cell& at(const GridRow& row, const GridColumn& column) const { return cells_.at({&row, &column}); }

  /// Calls use(block, row, column, cell) for each cell: block by block, column by column.
  template <class Use>
  void each(Use use) const {
    for (const GridBlock& block : grid_.blocks)
      for (const GridColumn& column : block.columns)
        for (const GridRow& row : block.rows) use(block, row, column, at(row, column));
  }

 private:
  const GridFolder& folder_;
  const Grid& grid_;
  const Scale& scale_;
  std::map<std::pair<const GridRow*, const GridColumn*>, Cell> cells_;
};

}  // namespace regroup
