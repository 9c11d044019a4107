#pragma once

#include <vector>

#include "regroup/reproduce/grid.h"
#include "regroup/reproduce/runner.h"

namespace regroup {

/// Writes what the runs in a folder say about the grids: tables/NAME.md, .csv, .tex and NAME-runs.csv, figures/*.svg,
/// and index.html with all of it.
void write_results(const GridFolder& folder, const std::vector<Grid>& grids, const Scale& scale);

}  // namespace regroup
