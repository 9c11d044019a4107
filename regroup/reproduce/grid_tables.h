#pragma once

#include <string>
#include <vector>

#include "regroup/reproduce/grid_cells.h"

namespace regroup {

/// The tables that a grid shows; one without figures, with what the grid says about itself, where it shows none.
std::vector<ResultTable> grid_tables(const GridCells& cells);

/// All figures: a line per run and predictor.
std::string runs_csv(const GridCells& cells);

}  // namespace regroup
