#pragma once

#include <string>
#include <vector>

#include "regroup/reproduce/grid_cells.h"

namespace regroup {

/// A chart, its file and what it shows.
struct ResultFigure {
  std::string file, svg, caption;
};

/// The charts that a grid shows.
std::vector<ResultFigure> grid_figures(const GridCells& cells);

}  // namespace regroup
