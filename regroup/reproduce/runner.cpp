#include "regroup/reproduce/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <thread>

#include "regroup/core/error.h"
#include "regroup/core/file.h"
#include "regroup/reproduce/run_times.h"
#include "regroup/train/checkpoint.h"
#include "regroup/train/run_lock.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

std::string last_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line, last;
  while (std::getline(in, line))
    if (!line.empty()) last = line;
  const std::string_view prefix = "regroup: ";
  return last.starts_with(prefix) ? last.substr(prefix.size()) : last;
}

/// A run that is asked to stop saves, and exits as shells say it of a program that a signal ended.
bool was_stopped(int status) {
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - 128;
  return signal == SIGINT || signal == SIGTERM;
}

std::string how_it_ended(int status, const fs::path& log) {
  if (WIFSIGNALED(status)) return fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) == 0) return "ended without a summary.json";
  const std::string said = last_line(log);
  return said.empty() ? fmt::format("exit code {}", WEXITSTATUS(status)) : said;
}

/// From the settings that a run was started with to the first file that it wrote, after it had loaded its data.
double start_seconds(const fs::path& config, const fs::path& run) {
  std::error_code error;
  const auto started = fs::last_write_time(config, error);
  const auto began = error ? started : fs::last_write_time(run / "labels.csv", error);
  return error ? 0 : std::max(0.0, std::chrono::duration<double>(began - started).count());
}

/// A run that works here, as a process of its own.
struct Child {
  pid_t pid = 0;
  std::size_t run = 0;
  RunLock lock;
};

class Runner {
 public:
  Runner(const std::vector<PlannedRun>& plan, const RunnerOptions& options, GridObserver& observer)
      : plan_(plan), options_(options), observer_(observer), states_(plan.size()) {
    std::error_code error;
    fs::create_directories(options.folder.path / "runs", error);
    if (error)
      throw UserError(fmt::format("{}: the folder cannot be made: {}", options.folder.path.string(), error.message()));
    for (std::size_t i = 0; i < plan.size(); ++i) index_[plan[i].name] = i;
    for (const PlannedRun& run : plan) kinds_.push_back(run_kind(options.settings_of(run)));
    look(true);
    times_ = times_in(options.folder);
    // What failed at an earlier time is tried again.
    for (RunState& state : states_)
      if (state.kind == RunState::Kind::failed) state = {};
  }

  GridReport run() {
    for (int round = 0; !all_ended();) {
      reap();
      if (stopped() && children_.empty()) break;
      if (stopped()) {
        ask_to_stop();
      } else {
        start_more();
      }
      observer_.progress(report());
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      look(++round % 50 == 0);
    }
    return report();
  }

 private:
  bool stopped() const { return options_.stop && options_.stop->load(); }

  bool is_here(std::size_t run) const {
    return std::any_of(children_.begin(), children_.end(), [&](const Child& child) { return child.run == run; });
  }

  bool has_ended(std::size_t run) const {
    const RunState::Kind kind = states_[run].kind;
    return kind == RunState::Kind::done || kind == RunState::Kind::failed || stopped_.contains(run);
  }

  bool all_ended() const {
    if (!children_.empty()) return false;
    for (std::size_t i = 0; i < plan_.size(); ++i)
      if (!has_ended(i)) return false;
    return true;
  }

  /// Reads from the folder what has become of the runs, whoever works on them: of all, or of those that another process
  /// is known to work on.
  void look(bool at_all) {
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      if (has_ended(i)) continue;
      if (!at_all && !is_here(i) && !elsewhere_.contains(i)) continue;
      const RunState now = options_.folder.state(plan_[i].name);
      // An old failure that was not tried again yet is no failure.
      if (now.kind == RunState::Kind::failed && !tried_.contains(i) && !elsewhere_.contains(i)) continue;
      states_[i] = now;
      if (now.kind == RunState::Kind::done && !is_here(i)) times_.add(kinds_[i], now);
    }
  }

  void start_more() {
    elsewhere_.clear();
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      if (has_ended(i) || is_here(i)) continue;
      if (!plan_[i].after.empty()) {
        const std::size_t before = index_.at(plan_[i].after);
        if (states_[before].kind == RunState::Kind::failed) fail(i, "the run that it starts from failed");
        if (stopped_.contains(before)) stopped_.insert(i);
        if (states_[before].kind != RunState::Kind::done) continue;
      }
      if (children_.size() >= static_cast<std::size_t>(options_.jobs)) continue;
      auto lock = RunLock::take(options_.folder.lock(plan_[i].name));
      if (!lock) {
        elsewhere_.insert(i);
        continue;
      }
      // Another process may have finished it since it was looked at.
      states_[i] = options_.folder.state(plan_[i].name);
      if (states_[i].kind == RunState::Kind::done) continue;
      start(i, std::move(*lock));
    }
  }

  void start(std::size_t run, RunLock lock) {
    const PlannedRun& planned = plan_[run];
    const GridFolder& folder = options_.folder;
    tried_.insert(run);
    fs::remove(folder.failure(planned.name));
    std::vector<std::string> words{options_.program, "train", "--quiet"};
    Settings settings = options_.settings_of(planned);
    if (!planned.after.empty()) give_weights(settings, folder.run(planned.after));
    if (fs::exists(whole_checkpoint(folder.run(planned.name) / "last"))) {
      // Data and files may lie elsewhere than when it began.
      write_file(folder.run(planned.name) / "config.toml", config_text(settings));
      words.insert(words.end(), {"--resume", folder.run(planned.name).string()});
    } else {
      // Nothing was learnt yet.
      fs::remove_all(folder.run(planned.name));
      fs::remove(folder.log(planned.name));
      write_file(folder.config(planned.name), config_text(settings));
      words.insert(words.end(),
                   {"--config", folder.config(planned.name).string(), "--output", folder.run(planned.name).string()});
    }
    words.insert(words.end(), {"--device", options_.device, "--threads", fmt::format("{}", options_.threads)});
    const pid_t pid = spawn(words, folder.log(planned.name), lock.descriptor());
    children_.push_back({pid, run, std::move(lock)});
  }

  /// A method whose first phase is another run's takes the network of its best epoch, as the phase would; others begin
  /// with the last one.
  static void give_weights(Settings& settings, const fs::path& before) {
    const bool is_phase = settings.declared("ce-weights");
    const fs::path checkpoint = is_phase && fs::exists(before / "best") ? before / "best" : before / "last";
    settings.set(is_phase ? "ce-weights" : "init-weights", (checkpoint / "model.safetensors").string(), "after");
  }

  /// The child has a process group of its own: Ctrl-C reaches it through us, once.
  static pid_t spawn(std::vector<std::string>& words, const fs::path& log, int lock) {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, lock, lock);  // it stays open in the child
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    pid_t pid = 0;
    const int error = posix_spawn(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) throw UserError(fmt::format("{}: cannot be started: {}", words[0], std::strerror(error)));
    return pid;
  }

  void reap() {
    for (std::size_t i = children_.size(); i-- > 0;) {
      int status = 0;
      if (::waitpid(children_[i].pid, &status, WNOHANG) != children_[i].pid) continue;
      const std::size_t run = children_[i].run;
      states_[run] = options_.folder.state(plan_[run].name);
      children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
      if (states_[run].kind == RunState::Kind::done) {
        times_.add(kinds_[run], states_[run]);
        observer_.progress(report());
        observer_.run_ended(plan_[run], states_[run]);
      } else if (was_stopped(status)) {
        stopped_.insert(run);
      } else {
        fail(run, how_it_ended(status, options_.folder.log(plan_[run].name)));
      }
    }
  }

  void fail(std::size_t run, const std::string& reason) {
    write_file(options_.folder.failure(plan_[run].name), reason + "\n");
    states_[run].kind = RunState::Kind::failed;
    states_[run].reason = reason;
    observer_.run_ended(plan_[run], states_[run]);
  }

  void ask_to_stop() {
    if (asked_to_stop_) return;
    asked_to_stop_ = true;
    for (const Child& child : children_) ::kill(child.pid, SIGINT);
  }

  GridReport report() const {
    GridReport report;
    report.runs = plan_.size();
    report.elsewhere = elsewhere_.size();
    double done = 0, all = 0;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      const auto epochs = static_cast<double>(plan_[i].settings.integer("epochs"));
      all += epochs;
      done += states_[i].kind == RunState::Kind::failed ? epochs : static_cast<double>(states_[i].epochs_done);
      report.done += states_[i].kind == RunState::Kind::done ? 1 : 0;
      report.failed += states_[i].kind == RunState::Kind::failed ? 1 : 0;
    }
    report.share = all > 0 ? done / all : 1;
    report.seconds_left = seconds_left();
    for (const Child& child : children_)
      report.running.push_back(fmt::format("{}, epoch {} of {}", plan_[child.run].name,
                                           states_[child.run].epochs_done + 1,
                                           plan_[child.run].settings.integer("epochs")));
    return report;
  }

  double seconds_left() const {
    RunTimes times = times_;
    for (const Child& child : children_) times.add(kinds_[child.run], states_[child.run]);
    const auto mean = times.mean();
    double all = 0, longest = 0;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      if (has_ended(i)) continue;
      const auto known = times.of(kinds_[i]);
      if (!known && !mean) return std::nan("");
      const std::int64_t epochs = plan_[i].settings.integer("epochs") - states_[i].epochs_done;
      const double left = (known ? known->time : *mean).left(epochs);
      all += left;
      longest = std::max(longest, left);
    }
    return std::max(longest, all / options_.jobs);
  }

  const std::vector<PlannedRun>& plan_;
  const RunnerOptions& options_;
  GridObserver& observer_;
  std::vector<RunState> states_;
  std::map<std::string, std::size_t> index_;
  std::vector<std::string> kinds_;
  std::vector<Child> children_;
  std::set<std::size_t> elsewhere_, tried_, stopped_;
  RunTimes times_;  ///< of what the folder had, and of what was done here
  bool asked_to_stop_ = false;
};

}  // namespace

RunState GridFolder::state(const std::string& name) const {
  RunState state;
  const fs::path checkpoint = whole_checkpoint(run(name) / "last");
  if (fs::exists(checkpoint)) state.kind = RunState::Kind::begun;
  try {
    const RunProgress progress = read_progress(checkpoint);
    state.epochs_done = progress.place.epoch;
    state.seconds = progress.seconds - progress.epoch_seconds;
    state.start_seconds = start_seconds(config(name), run(name));
  } catch (const UserError&) {
    // It has no checkpoint yet, or just gets a new one.
  }
  if (fs::exists(run(name) / "summary.json")) {
    state.kind = RunState::Kind::done;
  } else if (fs::exists(failure(name))) {
    state.kind = RunState::Kind::failed;
    state.reason = last_line(failure(name));
  }
  return state;
}

Settings RunnerOptions::settings_of(const PlannedRun& run) const {
  Settings settings = run.settings;
  const auto folder = data_dirs.find(settings.text("data"));
  if (folder != data_dirs.end() && settings.text("data-dir").empty())
    settings.set("data-dir", folder->second, "--data-dir");
  settings.set("device", device, "--device");
  settings.set("threads", std::int64_t{threads}, "--threads");
  return settings;
}

GridReport run_plan(const std::vector<PlannedRun>& plan, const RunnerOptions& options, GridObserver& observer) {
  return Runner(plan, options, observer).run();
}

}  // namespace regroup
