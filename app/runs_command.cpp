// regroup runs: a table of the runs under a folder.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "regroup/core/error.h"
#include "regroup/report/text_table.h"
#include "regroup/train/run_settings.h"

namespace regroup {
namespace {

std::string percent(const nlohmann::json& value) {
  return value.is_number() ? fmt::format("{:.2f}", 100 * value.get<double>()) : "";
}

/// How far a run is that has no summary yet.
std::string state_of(const std::filesystem::path& run, std::int64_t epochs) {
  std::ifstream in(run / "last" / "progress.json");
  const auto progress = nlohmann::json::parse(in, nullptr, false);
  if (!progress.is_object() || !progress.contains("epoch") || !progress["epoch"].is_number_integer()) return "broken";
  return fmt::format("{}/{} epochs", progress["epoch"].get<std::int64_t>(), epochs);
}

std::vector<std::string> row_of(const std::filesystem::path& run) {
  const Settings settings = resolve_settings({read_config((run / "config.toml").string())});
  std::vector<std::string> row{run.string(),           settings.text("method"),
                               settings.text("data"),  settings.text("noise"),
                               settings.text("model"), fmt::format("{}", settings.integer("seed"))};
  std::ifstream in(run / "summary.json");
  const auto summary = nlohmann::json::parse(in, nullptr, false);
  if (!summary.is_object() || !summary.contains("predictors") || !summary.contains("primary")) {
    row.push_back(state_of(run, settings.integer("epochs")));
    return row;
  }
  row.push_back(fmt::format("{} epochs", settings.integer("epochs")));
  const auto primary = summary["predictors"].value(summary.value("primary", ""), nlohmann::json::object());
  for (const char* which : {"last", "best_val", "best_test"})
    row.push_back(percent(primary.value(which, nlohmann::json())));
  row.push_back(percent(summary.value("memorised", nlohmann::json())));
  row.push_back(fmt::format("{:.0f}", summary.value("seconds", 0.0)));
  return row;
}

void run_runs(const std::string& folder) {
  if (!std::filesystem::is_directory(folder))
    throw UserError(fmt::format("{}: there is no such folder; regroup train puts its runs into runs/", folder));
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().filename() == "config.toml") found.push_back(entry.path().parent_path());
  std::sort(found.begin(), found.end());
  std::vector<std::vector<std::string>> rows;
  for (const auto& run : found) {
    try {
      rows.push_back(row_of(run));
    } catch (const UserError& error) {
      rows.push_back({run.string(), error.what()});
    }
  }
  if (rows.empty()) throw UserError(fmt::format("{}: there are no runs in it", folder));
  fmt::print("{}", text_table({"run", "method", "data", "noise", "model", "seed", "state", "last %", "best val %",
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
