// regroup reproduce: the paper's tables and figures, or a grid of one's own.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>

#include "cli.h"
#include "console.h"
#include "regroup/core/error.h"
#include "regroup/core/file.h"
#include "regroup/core/parallel.h"
#include "regroup/data/dataset.h"
#include "regroup/report/text_table.h"
#include "regroup/reproduce/estimate.h"
#include "regroup/reproduce/results.h"
#include "regroup/train/duration.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

struct ReproduceFlags {
  std::vector<std::string> tables;
  std::string scale = "cpu";
  std::optional<std::string> output;
  std::string data_dir;
  Narrowing narrowing;
  std::int64_t seeds = 0;
  int jobs = 1;
  int threads = 0;
  std::string device = "auto";
  bool dry_run = false, quiet = false;
};

/// Shows a grid on stderr: a bar that moves on a terminal, a line a run otherwise.
class GridConsole : public GridObserver {
 public:
  explicit GridConsole(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

  void run_ended(const PlannedRun& run, const RunState& state) override {
    if (state.kind == RunState::Kind::failed) {
      say(fmt::format("FAILED {}: {}", run.name, state.reason));
    } else if (!quiet_) {
      say(fmt::format("done {} after {}{}", run.name, duration_text(state.seconds), latest_));
    }
  }

  void progress(const GridReport& report) override {
    const std::string left =
        std::isfinite(report.seconds_left) ? fmt::format(", {} left", duration_text(report.seconds_left)) : "";
    latest_ = fmt::format(" ({} of {} runs{}{})", report.done, report.runs,
                          report.failed > 0 ? fmt::format(", {} failed", report.failed) : "", left);
    if (quiet_ || !terminal_) return;
    std::string line = fmt::format("{:3.0f} %{} {}", 100 * report.share, latest_, fmt::join(report.running, "; "));
    if (report.running.empty() && report.elsewhere > 0) line += "waiting for runs that others work on";
    fmt::print(stderr, "\r\033[K{}", line.substr(0, 150));
    std::fflush(stderr);
    shown_ = true;
  }

  void say(const std::string& sentence) {
    if (shown_) fmt::print(stderr, "\r\033[K");
    shown_ = false;
    fmt::print(stderr, "{}\n", sentence);
  }

 private:
  bool quiet_, terminal_, shown_ = false;
  std::string latest_;
};

void print_plan(const std::vector<PlannedRun>& plan, const RunnerOptions& options) {
  const auto estimates = estimate_runs(plan, options);
  std::vector<std::vector<std::string>> rows;
  double left = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const RunState state = options.folder.state(plan[i].name);
    const auto epochs = plan[i].settings.integer("epochs");
    const double share = state.kind == RunState::Kind::done
                             ? 0
                             : 1 - static_cast<double>(state.epochs_done) / static_cast<double>(epochs);
    left += share * estimates[i].seconds;
    const char* words[] = {"to do", "begun", "done", "failed, to do again"};
    rows.push_back({plan[i].name, words[static_cast<int>(state.kind)], fmt::format("{}", epochs),
                    duration_text(share * estimates[i].seconds)});
  }
  fmt::print("{}\n{} runs, about {} with --jobs {}. Times are measured here, on steps of each kind of run.\n",
             text_table({"run", "state", "epochs", "time left"}, rows), plan.size(), duration_text(left / options.jobs),
             options.jobs);
}

/// The runs whose data is there. What is missing is told once a dataset, before anything starts.
std::vector<PlannedRun> with_data(const std::vector<PlannedRun>& plan, const RunnerOptions& options) {
  std::map<std::string, std::string> reasons;  // by dataset and folder; empty: it can be loaded
  std::map<std::string, int> left_out;         // by reason
  std::vector<PlannedRun> kept;
  for (const PlannedRun& run : plan) {
    const Settings settings = options.settings_of(run);
    const std::string data = settings.text("data"), folder = settings.text("data-dir");
    const auto [reason, is_new] = reasons.try_emplace(data + "\n" + folder);
    const bool names_files = data.find(':') != std::string::npos;  // loading takes long: the run itself will tell
    if (is_new && !names_files) {
      try {
        load_dataset(data, {.data_dir = folder.empty() ? std::nullopt : std::optional<fs::path>(folder)});
      } catch (const UserError& error) {
        reason->second = error.what();
      }
    }
    if (reason->second.empty())
      kept.push_back(run);
    else
      ++left_out[reason->second];
  }
  if (kept.empty()) throw UserError(left_out.begin()->first);
  for (const auto& [reason, runs] : left_out)
    fmt::print(stderr, "{} left out: {}\n", runs == 1 ? "1 run is" : fmt::format("{} runs are", runs), reason);
  return kept;
}

/// A folder holds runs of one scale, so that a page never mixes two.
void claim_folder(const fs::path& folder, const Scale& scale) {
  const fs::path file = folder / "scale.txt";
  std::error_code error;
  fs::create_directories(folder / "tables", error);
  if (error) throw UserError(fmt::format("{}: the folder cannot be made: {}", folder.string(), error.message()));
  if (fs::exists(file)) {
    std::ifstream in(file);
    const std::string was(std::istreambuf_iterator<char>(in), {});
    if (was != scale.name)
      throw UserError(fmt::format("{}: holds results of --scale {}; choose another --output", folder.string(), was));
    return;
  }
  write_file(file, scale.name);
}

/// Those asked for, and on the page also those that the folder has from earlier.
std::vector<Grid> grids_on_page(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder / "tables"))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Grid> grids;
  for (const fs::path& file : files) grids.push_back(find_grid(file.string()));
  return grids;
}

std::vector<std::string> wanted_tables(const std::vector<std::string>& named) {
  if (std::find(named.begin(), named.end(), "all") == named.end()) return named;
  std::vector<std::string> all;
  for (const BuiltIn& grid : built_in_grids()) all.emplace_back(grid.name);
  return all;
}

void run_reproduce(const ReproduceFlags& flags) {
  Scale scale = find_scale(flags.scale);
  if (flags.seeds > 0) {
    scale.seeds = flags.seeds;
    scale.seeds_of.clear();
  }
  std::vector<Grid> grids;
  std::vector<std::string> texts;
  for (const std::string& name : wanted_tables(flags.tables)) grids.push_back(find_grid(name, &texts.emplace_back()));
  const auto wanted = plan_runs(grids, scale, flags.narrowing);
  if (wanted.empty()) throw UserError("there is nothing to run: the methods of what was asked for are not built yet");

  RunnerOptions options;
  options.folder = {flags.output ? *flags.output : "runs/reproduce-" + scale.name};
  options.program = fs::read_symlink("/proc/self/exe").string();
  options.data_dir = flags.data_dir;
  options.device = flags.device;
  options.jobs = flags.jobs;
  options.threads = flags.threads > 0 ? flags.threads : std::max(1, hardware_threads() / flags.jobs);
  options.stop = &stop_requested();
  const auto plan = with_data(wanted, options);
  if (flags.dry_run) return print_plan(plan, options);

  claim_folder(options.folder.path, scale);
  for (std::size_t i = 0; i < grids.size(); ++i)
    write_file(options.folder.path / "tables" / (grids[i].name + ".toml"), texts[i]);
  GridConsole console(flags.quiet);
  const GridReport report = run_plan(plan, options, console);
  write_results(options.folder, grids_on_page(options.folder.path), scale);
  console.say(fmt::format("{} of {} runs are done{}. The tables are in {}.", report.done, report.runs,
                          report.failed > 0 ? fmt::format(", {} failed", report.failed) : "",
                          (options.folder.path / "index.html").string()));
  if (report.done + report.failed < report.runs)
    console.say("Stopped and saved. Go on by the same command.");
  else if (report.failed > 0)
    throw UserError("some runs failed; the same command tries them again");
  else if (plan.size() < wanted.size())
    throw UserError("some runs were left out for want of their data; --data narrows what is asked for");
}

std::string reproduce_footer() {
  std::string text = "Tables and figures (all: every one):\n";
  for (const BuiltIn& grid : built_in_grids())
    text += fmt::format("  {:<10} {}\n", grid.name, parse_grid(grid.text, std::string(grid.name)).caption);
  text += "\nScales:\n";
  for (const BuiltIn& scale : built_in_scales())
    text += fmt::format("  {:<10} {}\n", scale.name, parse_scale(scale.text, std::string(scale.name)).description);
  return text +
         "\nExamples:\n"
         "  regroup reproduce table1 --data-dir cifar --dry-run\n"
         "  regroup reproduce table1 ablation --data-dir cifar --data cifar10 --only ce,rml --noise sym-0.5\n"
         "  regroup reproduce my-grid.toml --output runs/my-grid\n\n"
         "It can be stopped and started again, and several of it may work on one folder, also from several machines.";
}

}  // namespace

void add_reproduce_command(CLI::App& app) {
  auto flags = std::make_shared<ReproduceFlags>();
  CLI::App* command = app.add_subcommand("reproduce", "Run the paper's tables and figures, or a grid of your own");
  command->add_option("tables", flags->tables, "Names from below, or TOML files of grids")->required();
  command->add_option("--scale", flags->scale, "How large: a name from below, or a TOML file")->capture_default_str();
  command->add_option("--output", flags->output, "The folder of runs and tables [runs/reproduce-SCALE]");
  command->add_option("--data-dir", flags->data_dir, "Where the datasets lie");
  command->add_option("--only", flags->narrowing.rows, "Only these methods (rows), for instance rml,ce")
      ->delimiter(',');
  command->add_option("--noise", flags->narrowing.columns, "Only these noises (columns), for instance sym-0.5")
      ->delimiter(',');
  command->add_option("--data", flags->narrowing.blocks, "Only these datasets (blocks)")->delimiter(',');
  command
      ->add_option("--seeds", flags->seeds,
                   "At most so many seeds a cell, instead of the scale's; a grid's own number is never exceeded")
      ->check(CLI::Range(1, 10'000));
  command->add_option("--jobs", flags->jobs, "Runs at a time")->capture_default_str()->check(CLI::Range(1, 1024));
  command->add_option("--threads", flags->threads, "Threads a run [the cores, shared by the jobs]")
      ->check(CLI::Range(1, 4096));
  command->add_option("--device", flags->device, "What to compute on: auto, cpu, cuda")->capture_default_str();
  command->add_flag("--dry-run", flags->dry_run, "List the runs and what they will take, and stop");
  command->add_flag("-q,--quiet", flags->quiet, "Print nothing but failures and the end");
  command->footer(reproduce_footer);
  command->callback([flags] { run_reproduce(*flags); });
}

}  // namespace regroup
