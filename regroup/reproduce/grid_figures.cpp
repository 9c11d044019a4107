#include "regroup/reproduce/grid_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "regroup/report/charts.h"

namespace regroup {
namespace {

ResultFigure figure(const GridCells& cells, const std::string& kind, const std::string& title, std::string svg,
                    const std::string& caption) {
  std::string file = fmt::format("{}-{}-", cells.grid().name, kind);
  for (const char c : title) file += std::isalnum(static_cast<unsigned char>(c)) || c == '.' ? c : '-';
  return {file + ".svg", std::move(svg), fmt::format("{}: {}. {}", cells.grid().title, title, caption)};
}

bool is_in_several_blocks(const Grid& grid, const std::string& label) {
  return std::count_if(grid.blocks.begin(), grid.blocks.end(), [&](const GridBlock& block) {
           return std::any_of(block.rows.begin(), block.rows.end(),
                              [&](const GridRow& row) { return row.label == label; });
         }) > 1;
}

/// A bar for every cell that has the figure, named by its row, and by its block and column where there are several.
std::vector<Bar> bars_of(const GridCells& cells, const Figure& figure) {
  std::vector<Bar> bars;
  for (const GridBlock& block : cells.grid().blocks)
    for (const GridRow& row : block.rows)
      for (const GridColumn& column : block.columns) {
        const auto found = measured(cells.at(row, column), figure);
        if (!found) continue;
        std::string name = row.label;
        if (block.columns.size() > 1) name += ", " + name_of(column);
        if (is_in_several_blocks(cells.grid(), row.label)) name += ", " + block.label;
        bars.push_back({std::move(name), found->mean, found->deviation});
      }
  return bars;
}

/// The same as two charts, with a bar for each method that has run.
std::vector<ResultFigure> cost_charts(const GridCells& cells) {
  std::vector<ResultFigure> figures;
  const std::string times = "Time of a run", memories = "Memory of a run";
  if (const auto bars = bars_of(cells, minutes); !bars.empty())
    figures.push_back(figure(cells, "chart", times, bar_chart({times, "minutes", ""}, bars),
                             "Minutes from the start to the last test, by this machine's clock."));
  if (const auto bars = bars_of(cells, memory_gb); !bars.empty())
    figures.push_back(figure(cells, "chart", memories, bar_chart({memories, "GB", ""}, bars),
                             "The most that a run held in memory at once."));
  return figures;
}

Series mean_curve(const GridCells& cells, const GridRow& row, const GridColumn& column) {
  std::map<double, std::pair<double, int>> sums;
  const Cell& cell = cells.at(row, column);
  for (const auto& [seed, outcome] : cell.done) {
    const Series one =
        accuracy_curve(cells.folder().run(cell.run(seed).name), row.label, outcome.summary.primary, column.test);
    for (std::size_t i = 0; i < one.x.size(); ++i) {
      sums[one.x[i]].first += one.y[i];
      ++sums[one.x[i]].second;
    }
  }
  Series mean{row.label, {}, {}};
  for (const auto& [epoch, sum] : sums) {
    mean.x.push_back(epoch);
    mean.y.push_back(sum.first / sum.second);
  }
  return mean;
}

/// A chart per column: test accuracy by epoch, the mean over seeds, a line per row.
std::vector<ResultFigure> curves(const GridCells& cells) {
  std::vector<ResultFigure> figures;
  for (const GridBlock& block : cells.grid().blocks)
    for (const GridColumn& column : block.columns) {
      std::vector<Series> series;
      for (const GridRow& row : block.rows)
        if (auto line = mean_curve(cells, row, column); !line.x.empty()) series.push_back(std::move(line));
      if (series.empty()) continue;
      const std::string title = fmt::format("{}, {}", block.label, name_of(column));
      figures.push_back(figure(cells, "curves", title,
                               line_chart({title, "epoch", "test accuracy"}, series, Unit::percent),
                               "Test accuracy by epoch, the mean over the seeds."));
    }
  return figures;
}

/// A chart per column: test accuracy against another figure of the runs, means over seeds, a line per series of rows.
std::vector<ResultFigure> accuracies_against(const GridCells& cells) {
  std::vector<ResultFigure> figures;
  const std::string& against = cells.grid().against;
  const Figure accuracy = [](const RunOutcome& outcome) { return outcome.primary().last; };
  const Figure other = [](const RunOutcome& outcome) { return outcome.against; };
  for (const GridBlock& block : cells.grid().blocks)
    for (const GridColumn& column : block.columns) {
      std::vector<Series> series;
      for (const GridRow& row : block.rows) {
        const Cell& cell = cells.at(row, column);
        const auto x = measured(cell, other), y = measured(cell, accuracy);
        if (!x || !y) continue;
        auto line = std::ranges::find(series, row.series, &Series::name);
        if (line == series.end()) line = series.insert(line, Series{row.series, {}, {}});
        line->x.push_back(x->mean);
        line->y.push_back(y->mean);
      }
      if (series.empty()) continue;
      const std::string title = fmt::format("{}, {}", block.label, name_of(column));
      figures.push_back(figure(cells, "against-" + against, title,
                               line_chart({title, against, "test accuracy"}, series, Unit::percent),
                               fmt::format("Test accuracy against {}{}, means over the seeds.", against,
                                           against == "minutes" ? "" : ", the mean of the second half of the epochs")));
    }
  return figures;
}

/// A chart per cell: the losses of right and wrong labels after training, of the first seed.
std::vector<ResultFigure> losses(const GridCells& cells) {
  std::vector<ResultFigure> figures;
  cells.each([&](const GridBlock& block, const GridRow& row, const GridColumn& column, const Cell& cell) {
    if (cell.done.empty()) return;
    const auto histograms = final_losses(cells.folder().run(cell.run(cell.done.begin()->first).name));
    const std::string title = fmt::format("{}, {}, {}", block.label, name_of(column), row.label);
    figures.push_back(figure(cells, "losses", title, histogram_chart({title, "cross-entropy", "labels"}, histograms),
                             "Losses of right and of wrong labels after the last epoch, of one seed."));
  });
  return figures;
}

}  // namespace

std::vector<ResultFigure> grid_figures(const GridCells& cells) {
  std::vector<ResultFigure> figures;
  for (const Shown shown : cells.grid().shown) {
    const auto charts = shown == Shown::curves   ? curves(cells)
                        : shown == Shown::losses ? losses(cells)
                        : shown == Shown::cost   ? cost_charts(cells)
                                                 : std::vector<ResultFigure>();
    figures.insert(figures.end(), charts.begin(), charts.end());
  }
  if (!cells.grid().against.empty()) {
    const auto charts = accuracies_against(cells);
    figures.insert(figures.end(), charts.begin(), charts.end());
  }
  return figures;
}

}  // namespace regroup
