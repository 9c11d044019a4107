#pragma once

#include <string>
#include <vector>

#include "regroup/core/settings.h"
#include "regroup/reproduce/grid.h"

namespace regroup {

/// One run of a grid.
struct PlannedRun {
  /// Its folder: what it is, and a digest of all settings that decide its outcome. Where the data lies and what
  /// computes is not among them, and a file counts by its content, so a grid can be moved; another value of any other
  /// setting is another run.
  std::string name;
  Settings settings;
  std::string after;  ///< the name of the run whose trained model it starts from, or nothing
};

/// Which part of a grid is wanted; an empty list is everything.
struct Narrowing {
  std::vector<std::string> rows;     ///< ids or methods
  std::vector<std::string> columns;  ///< ids
  std::vector<std::string> blocks;   ///< labels, or the data
};

/// The runs of one cell, one per seed. A row whose method this program does not have gives none.
std::vector<PlannedRun> cell_runs(const Grid& grid, const Scale& scale, const GridBlock& block, const GridRow& row,
                                  const GridColumn& column);

bool method_exists(const std::string& name);

/// All runs that the grids need, each once, runs before those that start from them. Ordered by seed first, so that all
/// cells have a figure early. Throws UserError where a name of the narrowing fits nothing, or a file
/// that a setting names cannot be read.
std::vector<PlannedRun> plan_runs(const std::vector<Grid>& grids, const Scale& scale, const Narrowing& narrowing);

}  // namespace regroup
