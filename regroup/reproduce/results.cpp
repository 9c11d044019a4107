#include "regroup/reproduce/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "regroup/core/csv_field.h"
#include "regroup/core/error.h"
#include "regroup/core/file.h"
#include "regroup/core/random.h"
#include "regroup/report/charts.h"
#include "regroup/report/result_page.h"
#include "regroup/report/result_table.h"
#include "regroup/reproduce/plan.h"
#include "regroup/reproduce/run_outcome.h"
#include "regroup/stats/bootstrap.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

/// The runs of one cell, and what those that are done have found.
struct Cell {
  std::vector<PlannedRun> runs;
  std::map<std::int64_t, RunOutcome> done;  ///< by seed
  std::string failure;                      ///< the reason of the first that failed
};

/// A chart, its file and what it shows.
struct ResultFigure {
  std::string file, svg, caption;
};

/// One figure of a run; not a number where it has none.
using Figure = std::function<double(const RunOutcome&)>;

double primary_accuracy(const RunOutcome& outcome) { return 100 * outcome.primary().last; }

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

/// How far the row is ahead of the reference row, by the seeds that both have.
std::optional<ResultDifference> difference(const Cell& cell, const Cell& reference) {
  PairedOutcomes outcomes;
  for (const auto& [seed, outcome] : cell.done) {
    const auto other = reference.done.find(seed);
    if (other == reference.done.end()) continue;
    const auto& first = outcome.right;
    const auto& second = other->second.right;
    if (!first.contains(outcome.summary.primary) || !second.contains(other->second.summary.primary)) continue;
    outcomes.first.push_back(first.at(outcome.summary.primary));
    outcomes.second.push_back(second.at(other->second.summary.primary));
  }
  if (outcomes.first.empty()) return std::nullopt;
  const AccuracyDifference found = bootstrap_difference(outcomes, Stream(1, Purpose::bootstrap));
  return ResultDifference{100 * found.value, 100 * found.low, 100 * found.high};
}

/// Everything that is known about one grid.
class GridResults {
 public:
  GridResults(const GridFolder& folder, const Grid& grid, const Scale& scale)
      : folder_(folder), grid_(grid), scale_(scale) {
    for (const GridBlock& block : grid.blocks)
      for (const GridRow& row : block.rows)
        for (const GridColumn& column : block.columns) cells_[{&row, &column}] = cell(block, row, column);
  }

  /// A table without figures: what the grid says about itself.
  ResultTable heading() const {
    ResultTable table;
    table.id = grid_.name;
    table.title = grid_.title;
    table.caption = grid_.caption;
    table.notes = grid_.notes;
    if (!grid_.source.empty()) table.notes.insert(table.notes.begin(), "The paper's figures: " + grid_.source + ".");
    table.scale = fmt::format("Our runs are of scale {}: {}.", scale_.name, scale_.description);
    return table;
  }

  /// One figure of every run as a table.
  ResultTable table(const Figure& figure) const {
    ResultTable table = heading();
    for (const GridBlock& block : grid_.blocks) {
      ResultBlock& result = table.blocks.emplace_back();
      result.label = block.label;
      result.reference = block.reference;
      for (const GridColumn& column : block.columns) result.columns.push_back({column.group, column.label});
      for (const GridRow& row : block.rows) {
        ResultRow& filled = result.rows.emplace_back(ResultRow{row.label, {}});
        for (const GridColumn& column : block.columns) {
          const Cell& cell = at(row, column);
          filled.cells.push_back({measured(cell, figure), {}, remark(row, cell), {}});
        }
      }
    }
    return table;
  }

  /// Test accuracies with the paper's beside them, and differences to the reference row.
  ResultTable accuracies() const {
    ResultTable table = this->table(primary_accuracy);
    for (std::size_t b = 0; b < grid_.blocks.size(); ++b) {
      const GridBlock& block = grid_.blocks[b];
      const auto reference = std::find_if(block.rows.begin(), block.rows.end(),
                                          [&](const GridRow& row) { return row.label == block.reference; });
      for (std::size_t r = 0; r < block.rows.size(); ++r)
        for (std::size_t c = 0; c < block.columns.size(); ++c) {
          ResultCell& cell = table.blocks[b].rows[r].cells[c];
          if (!block.rows[r].paper.empty()) cell.paper = block.rows[r].paper[c];
          if (&*reference != &block.rows[r])
            cell.difference = difference(at(block.rows[r], block.columns[c]), at(*reference, block.columns[c]));
        }
    }
    return table;
  }

  /// Minutes and memory of a run, a pair of columns for each of the grid's; the paper's text is "hours, gigabytes".
  ResultTable costs() const {
    ResultTable table = heading();
    // Where accuracy is shown too, the paper's figures are accuracies.
    const bool is_papers = std::find(grid_.shown.begin(), grid_.shown.end(), Shown::accuracy) == grid_.shown.end();
    for (const GridBlock& block : grid_.blocks) {
      ResultBlock& result = table.blocks.emplace_back();
      result.label = block.label;
      result.reference = block.reference;
      for (const GridColumn& column : block.columns) {
        result.columns.push_back({column.label, is_papers ? "minutes (the paper: hours)" : "minutes", true});
        result.columns.push_back({column.label, "memory, GB", true});
      }
      for (const GridRow& row : block.rows) {
        ResultRow& filled = result.rows.emplace_back(ResultRow{row.label, {}});
        for (std::size_t c = 0; c < block.columns.size(); ++c) {
          const Cell& cell = at(row, block.columns[c]);
          const std::string paper = row.paper.empty() || !is_papers ? "" : row.paper[c];
          const auto comma = paper.find(", ");
          filled.cells.push_back({measured(cell, minutes), paper.substr(0, comma), remark(row, cell), {}});
          filled.cells.push_back({measured(cell, memory_gb),
                                  comma == std::string::npos ? "" : paper.substr(comma + 2),
                                  remark(row, cell),
                                  {}});
        }
      }
    }
    return table;
  }

  /// The same as two charts, with a bar for each method that has run.
  std::vector<ResultFigure> cost_charts() const {
    std::vector<ResultFigure> figures;
    const std::string times = "Time of a run", memories = "Memory of a run";
    if (const auto bars = this->bars(minutes); !bars.empty())
      figures.push_back(figure("chart", times, bar_chart({times, "minutes", ""}, bars),
                               "Minutes from the start to the last test, by this machine's clock."));
    if (const auto bars = this->bars(memory_gb); !bars.empty())
      figures.push_back(figure("chart", memories, bar_chart({memories, "GB", ""}, bars),
                               "The most that a run held in memory at once."));
    return figures;
  }

  /// A chart a column: test accuracy by epoch, the mean over seeds, a line a row.
  std::vector<ResultFigure> curves() const {
    std::vector<ResultFigure> figures;
    for (const GridBlock& block : grid_.blocks)
      for (const GridColumn& column : block.columns) {
        std::vector<Series> series;
        for (const GridRow& row : block.rows)
          if (auto line = mean_curve(row, column); !line.x.empty()) series.push_back(std::move(line));
        if (series.empty()) continue;
        const std::string title = fmt::format("{}, {}", block.label, name_of(column));
        figures.push_back(figure("curves", title, line_chart({title, "epoch", "test accuracy"}, series, Unit::percent),
                                 "Test accuracy by epoch, the mean over the seeds."));
      }
    return figures;
  }

  /// A chart a cell: the losses of right and wrong labels after training, of the first seed.
  std::vector<ResultFigure> losses() const {
    std::vector<ResultFigure> figures;
    for (const GridBlock& block : grid_.blocks)
      for (const GridColumn& column : block.columns)
        for (const GridRow& row : block.rows) {
          const Cell& cell = at(row, column);
          if (cell.done.empty()) continue;
          const auto histograms = final_losses(folder_.run(run_of(cell, cell.done.begin()->first).name));
          const std::string title = fmt::format("{}, {}, {}", block.label, name_of(column), row.label);
          figures.push_back(figure("losses", title, histogram_chart({title, "cross-entropy", "labels"}, histograms),
                                   "Losses of right and of wrong labels after the last epoch, of one seed."));
        }
    return figures;
  }

  /// A line a run and predictor: all figures.
  std::string runs_csv() const {
    std::string text =
        "block,column,row,seed,predictor,primary,last,best_val,best_test,noise_rate,memorised,seconds,"
        "estimator_seconds,peak_memory_mb,run\n";
    for (const GridBlock& block : grid_.blocks)
      for (const GridColumn& column : block.columns)
        for (const GridRow& row : block.rows) {
          const Cell& cell = at(row, column);
          for (const auto& [seed, outcome] : cell.done)
            for (const auto& [name, values] : outcome.summary.predictors)
              text += fmt::format("{},{},{},{},{},{},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.1f},{:.2f},{:.0f},{}\n",
                                  csv_field(block.label), csv_field(name_of(column)), csv_field(row.label), seed, name,
                                  name == outcome.summary.primary ? 1 : 0, values.last, values.best_val,
                                  values.best_test, outcome.summary.noise_rate, outcome.summary.memorised,
                                  outcome.summary.seconds, outcome.summary.estimator_seconds,
                                  outcome.summary.peak_memory_mb, run_of(cell, seed).name);
        }
    return text;
  }

  /// The names of all predictors that the runs have.
  std::set<std::string> predictors() const {
    std::set<std::string> names;
    for (const auto& [place, cell] : cells_)
      for (const auto& [seed, outcome] : cell.done)
        for (const auto& [name, values] : outcome.summary.predictors) names.insert(name);
    return names;
  }

  /// Adds the runs that were asked for, those that are done, and the failures.
  void count(std::set<std::string>& asked, std::set<std::string>& done,
             std::map<std::string, std::string>& failed) const {
    for (const auto& [place, cell] : cells_)
      for (const PlannedRun& run : cell.runs) {
        asked.insert(run.name);
        const RunState state = folder_.state(run.name);
        if (state.kind == RunState::Kind::done) done.insert(run.name);
        if (state.kind == RunState::Kind::failed) failed[run.name] = state.reason;
      }
  }

 private:
  Cell cell(const GridBlock& block, const GridRow& row, const GridColumn& column) const {
    Cell cell;
    try {
      cell.runs = cell_runs(grid_, scale_, block, row, column);
    } catch (const UserError& error) {
      // A file that it names is gone, maybe since another time that the grid was run. The rest has its figures.
      cell.failure = error.what();
    }
    for (const PlannedRun& run : cell.runs) {
      const RunState state = folder_.state(run.name);
      if (state.kind == RunState::Kind::failed && cell.failure.empty()) cell.failure = state.reason;
      if (state.kind == RunState::Kind::done)
        cell.done[run.settings.integer("seed")] = read_outcome(folder_.run(run.name));
    }
    return cell;
  }

  const Cell& at(const GridRow& row, const GridColumn& column) const { return cells_.at({&row, &column}); }

  static const PlannedRun& run_of(const Cell& cell, std::int64_t seed) {
    return *std::find_if(cell.runs.begin(), cell.runs.end(),
                         [&](const PlannedRun& run) { return run.settings.integer("seed") == seed; });
  }

  static std::string remark(const GridRow& row, const Cell& cell) {
    if (!method_exists(row.method)) return "not built yet";
    if (!cell.failure.empty()) return "failed: " + cell.failure;
    if (cell.done.size() == cell.runs.size()) return {};
    return fmt::format("{} of {} runs done", cell.done.size(), cell.runs.size());
  }

  static std::string name_of(const GridColumn& column) {
    return column.group.empty() ? column.label : column.group + " " + column.label;
  }

  /// A bar for every cell that has the figure, named by its row, and by its block and column where there are several.
  std::vector<Bar> bars(const Figure& figure) const {
    std::vector<Bar> bars;
    for (const GridBlock& block : grid_.blocks)
      for (const GridRow& row : block.rows)
        for (const GridColumn& column : block.columns) {
          const auto found = measured(at(row, column), figure);
          if (!found) continue;
          std::string name = row.label;
          if (block.columns.size() > 1) name += ", " + name_of(column);
          if (is_in_several_blocks(row.label)) name += ", " + block.label;
          bars.push_back({std::move(name), found->mean, found->deviation});
        }
    return bars;
  }

  bool is_in_several_blocks(const std::string& label) const {
    return std::count_if(grid_.blocks.begin(), grid_.blocks.end(), [&](const GridBlock& block) {
             return std::any_of(block.rows.begin(), block.rows.end(),
                                [&](const GridRow& row) { return row.label == label; });
           }) > 1;
  }

  Series mean_curve(const GridRow& row, const GridColumn& column) const {
    std::map<double, std::pair<double, int>> sums;
    const Cell& cell = at(row, column);
    for (const auto& [seed, outcome] : cell.done) {
      const Series one = accuracy_curve(folder_.run(run_of(cell, seed).name), row.label, outcome.summary.primary);
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

  ResultFigure figure(const std::string& kind, const std::string& title, std::string svg,
                      const std::string& caption) const {
    std::string file = fmt::format("{}-{}-", grid_.name, kind);
    for (const char c : title) file += std::isalnum(static_cast<unsigned char>(c)) || c == '.' ? c : '-';
    return {file + ".svg", std::move(svg), fmt::format("{}: {}. {}", grid_.title, title, caption)};
  }

  const GridFolder& folder_;
  const Grid& grid_;
  const Scale& scale_;
  std::map<std::pair<const GridRow*, const GridColumn*>, Cell> cells_;
};

/// Another figure of the same runs. The paper has none, so that rows and blocks without a run have nothing to show.
ResultTable derived(ResultTable table, const std::string& suffix, const std::string& title,
                    const std::string& caption) {
  table.id += "-" + suffix;
  table.title += ", " + title;
  table.caption = caption;
  table.notes.clear();
  for (ResultBlock& block : table.blocks)
    std::erase_if(block.rows, [](const ResultRow& row) {
      return std::none_of(row.cells.begin(), row.cells.end(), [](const ResultCell& cell) { return cell.ours; });
    });
  std::erase_if(table.blocks, [](const ResultBlock& block) { return block.rows.empty(); });
  return table;
}

/// What one predictor of every run reaches, whichever of them is primary: so that methods are compared like with like.
ResultTable predictor_table(const GridResults& results, const std::string& name) {
  const std::string title = name == "model" ? "the network itself" : name == "ema" ? "the momentum model" : name;
  const Figure accuracy = [&](const RunOutcome& outcome) {
    const auto found = outcome.summary.predictors.find(name);
    return found == outcome.summary.predictors.end() ? std::nan("") : 100 * found->second.last;
  };
  return derived(results.table(accuracy), name, title, fmt::format("Test accuracy (%) of {}, for every method", title));
}

}  // namespace

void write_results(const GridFolder& folder, const std::vector<Grid>& grids, const Scale& scale) {
  fs::create_directories(folder.path / "tables");
  fs::create_directories(folder.path / "figures");
  ResultPage page;
  const bool has_paper = std::any_of(grids.begin(), grids.end(), [](const Grid& grid) { return !grid.source.empty(); });
  page.title = has_paper ? "Regroup: our figures beside the paper's" : "Regroup: a comparison";
  page.scale = fmt::format("Scale {}: {}.", scale.name, scale.description);
  std::set<std::string> asked, done;
  std::map<std::string, std::string> failed;
  for (const Grid& grid : grids) {
    const GridResults results(folder, grid, scale);
    results.count(asked, done, failed);
    std::vector<ResultTable> tables;
    std::vector<ResultFigure> figures;
    for (const Shown shown : grid.shown) {
      if (shown == Shown::accuracy) {
        tables.push_back(results.accuracies());
        if (const auto names = results.predictors(); names.size() > 1)
          for (const std::string& name : names) tables.push_back(predictor_table(results, name));
        tables.push_back(derived(
            results.table([](const RunOutcome& outcome) { return 100 * outcome.primary().best_val; }), "best-val",
            "best on noisy validation", "Test accuracy (%) at the epoch that was best on the noisy validation split"));
        auto memorised = derived(
            results.table([](const RunOutcome& outcome) { return 100 * outcome.summary.memorised; }), "memorised",
            "wrong labels memorised", "Share of the wrong training labels (%) that the trained network predicts");
        for (ResultBlock& block : memorised.blocks)
          for (ResultColumn& column : block.columns) column.lower_is_better = true;
        tables.push_back(std::move(memorised));
      }
      if (shown == Shown::cost)
        tables.push_back(tables.empty() ? results.costs()
                                        : derived(results.costs(), "cost", "time and memory", "What a run took"));
      const auto charts = shown == Shown::curves   ? results.curves()
                          : shown == Shown::losses ? results.losses()
                          : shown == Shown::cost   ? results.cost_charts()
                                                   : std::vector<ResultFigure>();
      figures.insert(figures.end(), charts.begin(), charts.end());
    }
    std::erase_if(tables, [](const ResultTable& table) { return table.blocks.empty(); });
    for (const ResultTable& table : tables) {
      PageSection section{table, {}, {}};
      for (const auto& [ending, text] : {std::pair{".md", markdown_table(table)}, std::pair{".csv", csv_table(table)},
                                         std::pair{".tex", latex_table(table)}}) {
        section.files.push_back("tables/" + table.id + ending);
        write_file(folder.path / section.files.back(), text);
      }
      page.sections.push_back(std::move(section));
    }
    write_file(folder.path / "tables" / (grid.name + "-runs.csv"), results.runs_csv());
    if (tables.empty()) page.sections.push_back({results.heading(), {}, {}});
    page.sections.back().files.push_back("tables/" + grid.name + "-runs.csv");
    for (const ResultFigure& figure : figures) {
      write_file(folder.path / "figures" / figure.file, figure.svg);
      page.sections.back().figures.push_back({figure.svg, figure.caption});
    }
  }
  page.state = fmt::format("{} of {} runs done{}", done.size(), asked.size(),
                           failed.empty() ? "" : fmt::format(", {} failed", failed.size()));
  for (const auto& [name, reason] : failed) page.failures.push_back(fmt::format("{}: {}", name, reason));
  write_file(folder.path / "index.html", result_page(page));
}

}  // namespace regroup
