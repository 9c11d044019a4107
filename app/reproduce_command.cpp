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
#include <set>

#include "cli.h"
#include "console.h"
#include "output.h"
#include "regroup/core/clock.h"
#include "regroup/core/error.h"
#include "regroup/core/file.h"
#include "regroup/core/parallel.h"
#include "regroup/core/printable.h"
#include "regroup/data/dataset.h"
#include "regroup/report/text_table.h"
#include "regroup/reproduce/estimate.h"
#include "regroup/reproduce/named_files.h"
#include "regroup/reproduce/results.h"
#include "regroup/train/duration.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

struct ReproduceFlags {
  std::vector<std::string> tables;
  std::optional<std::string> scale, output;
  std::string data_dir;
  Narrowing narrowing;
  std::int64_t seeds = 0;
  int jobs = 1;
  int threads = 0;
  std::string device = "auto";
  bool dry_run = false, quiet = false;
};

/// Shows a grid on stderr: a bar that moves on a terminal; otherwise a line per run, and at least one per minute.
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
    if (quiet_ || (!terminal_ && clock_seconds() - last_said_ < silence)) return;
    std::string line = fmt::format("{:3.0f} %{} {}", 100 * report.share, latest_, fmt::join(report.running, "; "));
    if (report.running.empty() && report.elsewhere > 0) line += "waiting for runs that others work on";
    show(line);
  }

  /// A run is tried for some seconds.
  void measuring(const PlannedRun& run) {
    if (!quiet_) show(fmt::format("Measuring a few steps of {}", run.name));
  }

  void clear() {
    if (shown_) fmt::print(stderr, "\r\033[K");
    shown_ = false;
  }

  void say(const std::string& sentence) {
    clear();
    print_error(sentence);
    last_said_ = clock_seconds();
  }

 private:
  /// In the place of what was shown before, on a terminal.
  void show(const std::string& line) {
    if (!terminal_) return say(line);
    fmt::print(stderr, "\r\033[K{}", printable(line.substr(0, 150)));
    std::fflush(stderr);
    shown_ = true;
  }

  static constexpr double silence = 50;  ///< seconds; without a terminal something is said at least every minute

  bool quiet_, terminal_, shown_ = false;
  double last_said_ = clock_seconds();
  std::string latest_;
};

void print_plan(const std::vector<PlannedRun>& plan, const RunnerOptions& options, GridConsole& console) {
  const auto estimates = estimate_runs(plan, options, [&](const PlannedRun& run) { console.measuring(run); });
  console.clear();
  const std::vector<std::string> sources{"finished runs", "runs that have begun", "a few steps", "time unknown"};
  std::vector<int> counts(sources.size());
  std::set<std::string> reasons;
  std::vector<std::vector<std::string>> rows;
  double all = 0, longest = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const RunState state = options.folder.state(plan[i].name);
    const auto epochs = plan[i].settings.integer("epochs");
    const bool is_done = state.kind == RunState::Kind::done;
    const double left = is_done ? 0 : estimates[i].time.left(epochs - state.epochs_done);
    all += left;
    longest = std::max(longest, left);
    const char* words[] = {"to do", "begun", "done", "failed, to do again"};
    std::vector<std::string> row{plan[i].name, words[static_cast<int>(state.kind)], fmt::format("{}", epochs)};
    if (!is_done) {
      const auto source = static_cast<std::size_t>(estimates[i].source);
      const bool is_known = estimates[i].reason.empty();
      ++counts[source];
      if (!is_known) reasons.insert(estimates[i].reason);
      row.insert(row.end(), {is_known ? duration_text(left) : "?", sources[source]});
    } else {
      row.insert(row.end(), {"-", ""});
    }
    rows.push_back(row);
  }
  std::vector<std::string> measured;
  for (std::size_t i = 0; i + 1 < sources.size(); ++i)
    if (counts[i] > 0) measured.push_back(fmt::format("{} on {}", counts[i], sources[i]));
  print_out("{}\n{} runs, about {} with --jobs {}{}.\n",
            text_table({"run", "state", "epochs", "time left", "measured on"}, rows), plan.size(),
            measured.empty() && !reasons.empty() ? "?" : duration_text(std::max(longest, all / options.jobs)),
            options.jobs, reasons.empty() ? "" : fmt::format(", without {} whose time is unknown", counts.back()));
  if (!measured.empty()) print_out("Times are measured: {}.\n", fmt::join(measured, ", "));
  for (const std::string& reason : reasons) print_out("Time unknown: {}\n", reason);
}

/// Finds the datasets of the runs: in `data_dir`, and if that has one of them, the others also where their packages
/// put them. Returns why a run cannot be done, by its name.
std::map<std::string, std::string> find_data(const std::vector<PlannedRun>& plan, const std::string& data_dir,
                                             RunnerOptions& options) {
  std::map<std::string, std::string> problems;  // by dataset and folder; empty: it can be loaded
  const auto can_load = [&](const std::string& data, const std::string& folder) {
    const auto [problem, is_new] = problems.try_emplace(data + "\n" + folder);
    if (!is_new) return problem->second.empty();
    try {
      load_dataset(data,
                   {.data_dir = folder.empty() ? std::nullopt : std::optional<fs::path>(folder), .only_lists = true});
    } catch (const UserError& error) {
      problem->second = error.what();
    }
    return problem->second.empty();
  };
  // Files that a run names itself are many, and loading them takes long: the run will tell.
  const auto names_files = [](const PlannedRun& run) {
    return run.settings.text("data").find(':') != std::string::npos;
  };
  if (!data_dir.empty()) {
    const std::string folder = fs::absolute(data_dir).string();
    bool has_any = false;
    for (const PlannedRun& run : plan) {
      if (names_files(run) || !run.settings.text("data-dir").empty()) continue;
      options.data_dirs[run.settings.text("data")] = folder;
      has_any = can_load(run.settings.text("data"), folder) || has_any;
    }
    for (const DatasetInfo& info : datasets()) {
      const std::string name(info.name);
      if (has_any && options.data_dirs.contains(name) && !can_load(name, folder) && !info.default_folder.empty() &&
          can_load(name, ""))
        options.data_dirs.erase(name);
    }
  }
  std::map<std::string, std::string> reasons;
  for (const PlannedRun& run : plan) {
    const Settings settings = options.settings_of(run);
    const std::string data = settings.text("data"), folder = settings.text("data-dir");
    if (!names_files(run) && !can_load(data, folder)) reasons[run.name] = problems.at(data + "\n" + folder);
  }
  return reasons;
}

/// The runs that can be done. Why others cannot is told once a reason, before anything starts.
std::vector<PlannedRun> without(const std::vector<PlannedRun>& plan,
                                const std::map<std::string, std::string>& missing) {
  std::map<std::string, int> left_out;  // by reason
  std::vector<PlannedRun> kept;
  for (const PlannedRun& run : plan) {
    if (const auto reason = missing.find(run.name); reason != missing.end())
      ++left_out[reason->second];
    else
      kept.push_back(run);
  }
  if (kept.empty()) throw UserError(left_out.begin()->first);
  for (const auto& [reason, runs] : left_out)
    print_error(fmt::format("{} left out: {}", runs == 1 ? "1 run is" : fmt::format("{} runs are", runs), reason));
  return kept;
}

/// A folder holds runs of one scale, so that a page never mixes two.
void claim_folder(const fs::path& folder, const Scale& scale) {
  const fs::path file = folder / "scale.txt";
  if (fs::exists(folder / "config.toml"))
    throw UserError(fmt::format("{}: is a run of regroup train; choose another --output", folder.string()));
  std::error_code error;
  fs::create_directories(folder / "tables", error);
  if (error) throw UserError(fmt::format("{}: the folder cannot be made: {}", folder.string(), error.message()));
  if (fs::exists(file)) {
    std::ifstream in(file);
    const std::string was(std::istreambuf_iterator<char>(in), {});
    if (was != scale.name)
      throw UserError(fmt::format("{}: holds results of {}; choose another --output", folder.string(),
                                  was == "paper" ? "full size (--scale paper)" : "--scale " + was));
    return;
  }
  write_file(file, scale.name);
}

bool is_own(const std::string& table) { return table.ends_with(".toml"); }

/// Where files lie that grids name: beside a grid of one's own, or with the data.
std::vector<fs::path> places_of_files(const ReproduceFlags& flags) {
  std::vector<fs::path> places;
  for (const std::string& table : flags.tables)
    if (is_own(table)) places.push_back(fs::path(table).parent_path());
  if (!flags.data_dir.empty()) places.emplace_back(flags.data_dir);
  return places;
}

/// Those asked for, and on the page also those that the folder has from earlier.
std::vector<Grid> grids_on_page(const fs::path& folder, const std::vector<fs::path>& places) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder / "tables"))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Grid> grids;
  for (const fs::path& file : files) find_named_files(grids.emplace_back(find_grid(file.string())), places);
  return grids;
}

std::vector<std::string> wanted_tables(const std::vector<std::string>& named) {
  if (std::find(named.begin(), named.end(), "all") == named.end()) return named;
  std::vector<std::string> all;
  for (const BuiltIn& grid : built_in_grids()) all.emplace_back(grid.name);
  return all;
}

/// A grid of one's own has its own sizes. Those of the paper are too large for most machines.
std::string default_scale(const std::vector<std::string>& tables) {
  const auto own = static_cast<std::size_t>(std::count_if(tables.begin(), tables.end(), is_own));
  if (own == 0) return "cpu";
  if (own == tables.size()) return "paper";
  throw UserError("tables of the paper and grids of your own are asked for at once; give a --scale for all of them");
}

std::string default_output(const std::vector<Grid>& grids, const ReproduceFlags& flags, const Scale& scale) {
  if (!std::all_of(flags.tables.begin(), flags.tables.end(), is_own)) return "runs/reproduce-" + scale.name;
  std::string name = "runs/";
  for (const Grid& grid : grids) name += (&grid == &grids.front() ? "" : "-") + grid.name;
  return flags.scale ? name + "-" + scale.name : name;
}

void run_reproduce(const ReproduceFlags& flags) {
  const std::vector<std::string> tables = wanted_tables(flags.tables);
  Scale scale = find_scale(flags.scale ? *flags.scale : default_scale(tables));
  if (flags.seeds > 0) {
    scale.seeds = flags.seeds;
    scale.seeds_of.clear();
  }
  std::vector<Grid> grids;
  std::vector<std::string> texts;
  const std::vector<fs::path> places = places_of_files(flags);
  for (const std::string& name : tables)
    find_named_files(grids.emplace_back(find_grid(name, &texts.emplace_back())), places);
  const auto wanted = plan_runs(grids, scale, flags.narrowing);
  if (wanted.empty()) throw UserError("there is nothing to run: the methods of what was asked for are not built yet");

  RunnerOptions options;
  options.folder = {flags.output ? *flags.output : default_output(grids, flags, scale)};
  options.program = fs::read_symlink("/proc/self/exe").string();
  options.device = flags.device;
  options.jobs = flags.jobs;
  options.threads = flags.threads > 0 ? flags.threads : std::max(1, hardware_threads() / flags.jobs);
  // A dry run leaves nothing that would have to be saved: Ctrl-C ends it at once.
  if (!flags.dry_run) options.stop = &stop_requested();
  GridConsole console(flags.quiet);
  const auto missing = find_data(wanted, flags.data_dir, options);
  if (flags.dry_run) print_plan(wanted, options, console);
  const auto plan = without(wanted, missing);
  if (flags.dry_run) return;

  claim_folder(options.folder.path, scale);
  for (std::size_t i = 0; i < grids.size(); ++i)
    write_file(options.folder.path / "tables" / (grids[i].name + ".toml"), texts[i]);
  const GridReport report = run_plan(plan, options, console);
  write_results(options.folder, grids_on_page(options.folder.path, places), scale);
  console.say(fmt::format("{} of {} runs are done{}. The tables are in {}.", report.done, report.runs,
                          report.failed > 0 ? fmt::format(", {} failed", report.failed) : "",
                          (options.folder.path / "index.html").string()));
  if (report.done + report.failed < report.runs) {
    console.say("Stopped and saved. The same command resumes.");
    throw Stopped();
  }
  if (report.failed > 0) throw UserError("some runs failed; the same command tries them again");
  if (plan.size() < wanted.size())
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
         "  regroup reproduce my-grid.toml\n\n"
         "The paper's tables and grids of your own in one command need a --scale.\n"
         "A file that a grid names, such as init-weights, may lie where the command runs, beside the grid or in "
         "--data-dir.\n"
         "It can be stopped and started again, and several of it may work on one folder, also from several machines.";
}

}  // namespace

void add_reproduce_command(CLI::App& app) {
  auto flags = std::make_shared<ReproduceFlags>();
  CLI::App* command = app.add_subcommand("reproduce", "Run the paper's tables and figures, or a grid of your own");
  command->add_option("tables", flags->tables, "Names from below, or TOML files of grids")->required();
  command->add_option("--scale", flags->scale,
                      "How large: a name from below, or a TOML file [cpu; grids of your own keep their sizes]");
  command->add_option("--output", flags->output,
                      "The folder of runs and tables [runs/reproduce-SCALE; of a grid of your own runs/NAME]");
  command->add_option("--data-dir", flags->data_dir,
                      "Where the datasets lie; one that is not there is taken from where its package puts it");
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
