// regroup runs: a table of the runs under a folder.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <memory>

#include "cli.h"
#include "output.h"
#include "regroup/core/error.h"
#include "regroup/core/printable.h"
#include "regroup/report/text_table.h"
#include "regroup/train/checkpoint.h"
#include "regroup/train/run_settings.h"

namespace regroup {
namespace {

std::string percent(double value) { return std::isnan(value) ? "" : fmt::format("{:.2f}", 100 * value); }

std::vector<std::string> row_of(const std::filesystem::path& run) {
  const Settings settings = resolve_settings({read_config((run / "config.toml").string())});
  std::vector<std::string> row{run.string(),           settings.text("method"),
                               settings.text("data"),  settings.text("noise"),
                               settings.text("model"), fmt::format("{}", settings.integer("seed"))};
  if (!std::filesystem::exists(run / "summary.json")) {
    row.push_back(fmt::format("{}/{} epochs",
                              has_checkpoint(run / "last") ? read_progress(run / "last").place.epoch : 0,
                              settings.integer("epochs")));
    return row;
  }
  const RunSummary summary = read_summary(run / "summary.json");
  const PredictorSummary& primary = summary.predictors.at(summary.primary);
  row.push_back(fmt::format("{} epochs", summary.epochs));
  for (const double share : {primary.last, primary.best_val, primary.best_test, summary.memorised})
    row.push_back(percent(share));
  row.push_back(fmt::format("{:.0f}", summary.seconds));
  return row;
}

/// The runs in a folder and below it, sorted. What cannot be read is told and left out.
std::vector<std::filesystem::path> find_runs(const std::filesystem::path& top) {
  std::vector<std::filesystem::path> found, folders{top};
  while (!folders.empty()) {
    const std::filesystem::path folder = std::move(folders.back());
    folders.pop_back();
    std::error_code error, unknown;
    std::filesystem::directory_iterator entry(folder, error);
    for (; entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      if (entry->path().filename() == "config.toml") found.push_back(folder);
      // Links to folders are not followed: they may lead in a circle.
      if (entry->symlink_status(unknown).type() == std::filesystem::file_type::directory)
        folders.push_back(entry->path());
    }
    if (error) print_error(fmt::format("{}: is left out: {}", folder.string(), error.message()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

void run_runs(const std::string& folder) {
  if (!std::filesystem::is_directory(folder))
    throw UserError(fmt::format("{}: there is no such folder; regroup train puts its runs into runs/", folder));
  std::vector<std::vector<std::string>> rows;
  for (const auto& run : find_runs(folder)) {
    try {
      rows.push_back(row_of(run));
    } catch (const std::exception& error) {
      rows.push_back({run.string(), error.what()});
    }
    for (std::string& cell : rows.back()) cell = printable(cell);
  }
  if (rows.empty()) throw UserError(fmt::format("{}: there are no runs in it", folder));
  write_out(text_table({"run", "method", "data", "noise", "model", "seed", "state", "last %", "best val %",
                        "best test %", "memorised %", "seconds"},
                       rows));
}

}  // namespace

void add_runs_command(CLI::App& app) {
  auto folder = std::make_shared<std::string>("runs");
  CLI::App* command = app.add_subcommand("runs", "Show the runs under a folder with their figures");
  command->add_option("folder", *folder, "Where to look")->capture_default_str();
  command->footer("The accuracies are those of each run's primary predictor on the test images.");
  command->callback([folder] { run_runs(*folder); });
}

}  // namespace regroup
