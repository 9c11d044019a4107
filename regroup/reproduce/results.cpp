#include "regroup/reproduce/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "regroup/core/file.h"
#include "regroup/report/result_page.h"
#include "regroup/reproduce/grid_figures.h"
#include "regroup/reproduce/grid_tables.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

/// How far all runs of all grids are.
struct Tally {
  std::set<std::string> asked, done;
  std::map<std::string, std::string> failed;  ///< the reasons

  void add(const GridCells& cells) {
    cells.each([&](const GridBlock&, const GridRow&, const GridColumn&, const Cell& cell) {
      for (const PlannedRun& run : cell.runs) {
        asked.insert(run.name);
        const RunState state = cells.folder().state(run.name);
        if (state.kind == RunState::Kind::done) done.insert(run.name);
        if (state.kind == RunState::Kind::failed) failed[run.name] = state.reason;
      }
    });
  }
};

std::string page_title(const std::vector<Grid>& grids) {
  if (std::any_of(grids.begin(), grids.end(), has_paper)) return "Regroup: our figures beside the paper's";
  return grids.size() == 1 ? grids.front().title : "Regroup: comparisons";
}

/// The heading of a section on a page that has the grid's title already: "Small, time and memory" is "Time and memory".
std::string short_title(const ResultTable& table, const Grid& grid) {
  const std::string start = grid.title + ", ";
  if (!table.title.starts_with(start)) return "Results";
  std::string title = table.title.substr(start.size());
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return title;
}

/// The runs of each cell that have a folder.
std::vector<PageRuns> run_links(const GridCells& cells) {
  std::vector<PageRuns> links;
  cells.each([&](const GridBlock& block, const GridRow& row, const GridColumn& column, const Cell& cell) {
    PageRuns runs{fmt::format("{}, {}, {}", block.label, name_of(column), row.label), {}};
    for (const PlannedRun& run : cell.runs)
      if (fs::exists(cells.folder().run(run.name)))
        runs.folders.push_back({fmt::format("seed {}", run.settings.integer("seed")), "runs/" + run.name + "/"});
    if (!runs.folders.empty()) links.push_back(std::move(runs));
  });
  return links;
}

/// Writes the files of one grid and returns its sections of the page.
std::vector<PageSection> write_grid(const GridCells& cells) {
  const fs::path& folder = cells.folder().path;
  std::vector<PageSection> sections;
  for (const ResultTable& table : grid_tables(cells)) {
    PageSection& section = sections.emplace_back(PageSection{table, {}, {}});
    if (table.blocks.empty()) continue;
    for (const auto& [ending, text] : {std::pair{".md", markdown_table(table)}, std::pair{".csv", csv_table(table)},
                                       std::pair{".tex", latex_table(table)}}) {
      section.files.push_back("tables/" + table.id + ending);
      write_file(folder / section.files.back(), text);
    }
  }
  PageSection& last = sections.back();
  last.files.push_back("tables/" + cells.grid().name + "-runs.csv");
  write_file(folder / last.files.back(), runs_csv(cells));
  for (const ResultFigure& figure : grid_figures(cells)) {
    write_file(folder / "figures" / figure.file, figure.svg);
    last.figures.push_back({figure.svg, figure.caption});
  }
  last.runs = run_links(cells);
  return sections;
}

}  // namespace

void write_results(const GridFolder& folder, const std::vector<Grid>& grids, const Scale& scale) {
  fs::create_directories(folder.path / "tables");
  fs::create_directories(folder.path / "figures");
  ResultPage page;
  page.title = page_title(grids);
  if (!scale.is_grids_own() || std::any_of(grids.begin(), grids.end(), has_paper))
    page.scale = fmt::format("Scale {}: {}.", scale.name, scale.description);
  Tally tally;
  for (const Grid& grid : grids) {
    const GridCells cells(folder, grid, scale);
    tally.add(cells);
    for (PageSection& section : write_grid(cells)) {
      section.table.scale.clear();  // The page says it.
      if (page.title == grid.title) section.table.title = short_title(section.table, grid);
      page.sections.push_back(std::move(section));
    }
  }
  page.state = fmt::format("{} of {} runs done{}", tally.done.size(), tally.asked.size(),
                           tally.failed.empty() ? "" : fmt::format(", {} failed", tally.failed.size()));
  for (const auto& [name, reason] : tally.failed) page.failures.push_back(fmt::format("{}: {}", name, reason));
  write_file(folder.path / "index.html", result_page(page));
}

}  // namespace regroup
