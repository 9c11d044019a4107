#include "regroup/reproduce/grid_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "regroup/core/random.h"
#include "regroup/io/csv.h"
#include "regroup/stats/bootstrap.h"

namespace regroup {
namespace {

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

/// A table without figures: what the grid says about itself.
ResultTable heading(const GridCells& cells) {
  const Grid& grid = cells.grid();
  const Scale& scale = cells.scale();
  ResultTable table;
  table.id = grid.name;
  table.title = grid.title;
  table.caption = grid.caption;
  table.notes = grid.notes;
  if (!grid.source.empty()) table.notes.insert(table.notes.begin(), "The paper's figures: " + grid.source + ".");
  if (has_paper(grid) || !scale.is_grids_own())
    table.scale = fmt::format("{} are of scale {}: {}.", has_paper(grid) ? "Our runs" : "The runs", scale.name,
                              scale.description);
  return table;
}

/// Why a figure is missing or not complete.
std::string remark(const GridRow& row, const Cell& cell) {
  if (!method_exists(row.method)) return "not built yet";
  if (!cell.failure.empty()) return "failed: " + cell.failure;
  if (cell.done.size() == cell.runs.size()) return {};
  return fmt::format("{} of {} runs done", cell.done.size(), cell.runs.size());
}

/// One figure of every run as a table.
ResultTable table_of(const GridCells& cells, const Figure& figure) {
  ResultTable table = heading(cells);
  for (const GridBlock& block : cells.grid().blocks) {
    ResultBlock& result = table.blocks.emplace_back();
    result.label = block.label;
    result.reference = block.reference;
    for (const GridColumn& column : block.columns) result.columns.push_back({column.group, column.label});
    for (const GridRow& row : block.rows) {
      ResultRow& filled = result.rows.emplace_back(ResultRow{row.label, {}});
      for (const GridColumn& column : block.columns) {
        const Cell& cell = cells.at(row, column);
        filled.cells.push_back({measured(cell, figure), {}, remark(row, cell), {}});
      }
    }
  }
  return table;
}

/// Test accuracies with the paper's beside them, and differences to the reference row.
ResultTable accuracies(const GridCells& cells) {
  ResultTable table = table_of(cells, [](const RunOutcome& outcome) { return 100 * outcome.primary().last; });
  if (table.caption.empty()) table.caption = "Test accuracy (%) after the last epoch";
  for (std::size_t b = 0; b < cells.grid().blocks.size(); ++b) {
    const GridBlock& block = cells.grid().blocks[b];
    const auto reference = std::find_if(block.rows.begin(), block.rows.end(),
                                        [&](const GridRow& row) { return row.label == block.reference; });
    for (std::size_t r = 0; r < block.rows.size(); ++r)
      for (std::size_t c = 0; c < block.columns.size(); ++c) {
        ResultCell& cell = table.blocks[b].rows[r].cells[c];
        if (!block.rows[r].paper.empty()) cell.paper = block.rows[r].paper[c];
        if (&*reference != &block.rows[r])
          cell.difference =
              difference(cells.at(block.rows[r], block.columns[c]), cells.at(*reference, block.columns[c]));
      }
  }
  return table;
}

/// Minutes and memory of a run, a pair of columns for each of the grid's; the paper's text is "hours, gigabytes".
ResultTable costs(const GridCells& cells) {
  ResultTable table = heading(cells);
  if (table.caption.empty()) table.caption = "Time and memory of a run";
  // Where accuracy is shown too, the paper's figures are accuracies.
  const auto& shown = cells.grid().shown;
  const bool is_papers =
      has_paper(cells.grid()) && std::find(shown.begin(), shown.end(), Shown::accuracy) == shown.end();
  for (const GridBlock& block : cells.grid().blocks) {
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
        const Cell& cell = cells.at(row, block.columns[c]);
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

/// The names of all predictors that the runs have.
std::set<std::string> predictors(const GridCells& cells) {
  std::set<std::string> names;
  cells.each([&](const GridBlock&, const GridRow&, const GridColumn&, const Cell& cell) {
    for (const auto& [seed, outcome] : cell.done)
      for (const auto& [name, values] : outcome.accuracies) names.insert(name);
  });
  return names;
}

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
ResultTable predictor_table(const GridCells& cells, const std::string& name) {
  const std::string title = name == "model" ? "the network itself" : name == "ema" ? "the momentum model" : name;
  const Figure accuracy = [&](const RunOutcome& outcome) {
    const auto found = outcome.accuracies.find(name);
    return found == outcome.accuracies.end() ? std::nan("") : 100 * found->second.last;
  };
  return derived(table_of(cells, accuracy), name, title,
                 fmt::format("Test accuracy (%) of {}, for every method", title));
}

void add_accuracies(const GridCells& cells, std::vector<ResultTable>& tables) {
  tables.push_back(accuracies(cells));
  if (const auto names = predictors(cells); names.size() > 1)
    for (const std::string& name : names) tables.push_back(predictor_table(cells, name));
  tables.push_back(derived(table_of(cells, [](const RunOutcome& outcome) { return 100 * outcome.primary().best_val; }),
                           "best-val", "best on noisy validation",
                           "Test accuracy (%) at the epoch that was best on the noisy validation split"));
  tables.push_back(
      derived(table_of(cells, [](const RunOutcome& outcome) { return 100 * outcome.primary().top5; }), "top5", "top-5",
              "Share of the test images (%) whose label is among the five likeliest classes, after the last epoch"));
  auto memorised =
      derived(table_of(cells, [](const RunOutcome& outcome) { return 100 * outcome.summary.memorised; }), "memorised",
              "wrong labels memorised", "Share of the wrong training labels (%) that the trained network predicts");
  for (ResultBlock& block : memorised.blocks)
    for (ResultColumn& column : block.columns) column.lower_is_better = true;
  tables.push_back(std::move(memorised));
}

/// How well wrong labels are found: one figure a table.
void add_audits(const GridCells& cells, std::vector<ResultTable>& tables) {
  struct AuditTable {
    const char *suffix, *title, *caption;
    double AuditFigures::*figure;
    bool lower_is_better;
  };
  constexpr AuditTable all[] = {
      {"audit", "wrong labels found", "Average precision (%) of the audit's list, the worst label first",
       &AuditFigures::average_precision, false},
      {"audit-worst", "the worst 1 %", "Share of wrong labels (%) among the worst 1 % of the list",
       &AuditFigures::worst_precision, false},
      {"audit-recall", "recall", "Share of the wrong labels (%) among as many of the worst as there are wrong ones",
       &AuditFigures::recall, false},
      {"audit-rate", "noise rate", "Estimated share of wrong labels less the true one (points)",
       &AuditFigures::noise_rate_error, true},
      {"audit-calibration", "calibration", "Calibration error of the label scores (points)",
       &AuditFigures::calibration_error, true},
      {"audit-losses", "wrong labels by their losses",
       "Average precision (%) of a list by the losses of the last network", &AuditFigures::loss_precision, false}};
  for (const AuditTable& shown : all) {
    const Figure figure = [&](const RunOutcome& outcome) {
      return outcome.audit ? 100 * (*outcome.audit).*(shown.figure) : std::nan("");
    };
    ResultTable table = derived(table_of(cells, figure), shown.suffix, shown.title, shown.caption);
    for (ResultBlock& block : table.blocks)
      for (ResultColumn& column : block.columns) column.lower_is_better = shown.lower_is_better;
    tables.push_back(std::move(table));
  }
}

}  // namespace

std::vector<ResultTable> grid_tables(const GridCells& cells) {
  std::vector<ResultTable> tables;
  for (const Shown shown : cells.grid().shown) {
    if (shown == Shown::accuracy) add_accuracies(cells, tables);
    if (shown == Shown::audit) add_audits(cells, tables);
    if (shown == Shown::cost)
      tables.push_back(tables.empty() ? costs(cells)
                                      : derived(costs(cells), "cost", "time and memory", "What a run took"));
  }
  if (const std::string& against = cells.grid().against; !against.empty() && against != "minutes")
    tables.push_back(derived(table_of(cells, [](const RunOutcome& outcome) { return outcome.against; }), against,
                             against,
                             fmt::format("The {} of a run: its mean over the second half of the epochs", against)));
  std::erase_if(tables, [](const ResultTable& table) { return table.blocks.empty(); });
  if (tables.empty()) tables.push_back(heading(cells));
  return tables;
}

std::string runs_csv(const GridCells& cells) {
  const auto share = [](double value) { return fmt::format("{:.4f}", value); };
  CsvWriter csv;
  csv.row({"block", "column", "row", "seed", "predictor", "primary", "last", "best_val", "best_test", "top5",
           "noise_rate", "memorised", "seconds", "estimator_seconds", "peak_memory_mb", "run"});
  cells.each([&](const GridBlock& block, const GridRow& row, const GridColumn& column, const Cell& cell) {
    for (const auto& [seed, outcome] : cell.done)
      for (const auto& [name, values] : outcome.accuracies)
        csv.row({block.label, name_of(column), row.label, std::to_string(seed), name,
                 name == outcome.summary.primary ? "1" : "0", share(values.last), share(values.best_val),
                 share(values.best_test), std::isnan(values.top5) ? "" : share(values.top5),
                 share(outcome.summary.noise_rate), share(outcome.summary.memorised),
                 fmt::format("{:.1f}", outcome.summary.seconds),
                 fmt::format("{:.2f}", outcome.summary.estimator_seconds),
                 fmt::format("{:.0f}", outcome.summary.peak_memory_mb), cell.run(seed).name});
  });
  return csv.text();
}

}  // namespace regroup
