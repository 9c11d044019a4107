#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "regroup/reproduce/plan.h"

namespace regroup {

/// Where a run of a grid stands, as its folder says.
struct RunState {
  enum class Kind { open, begun, done, failed } kind = Kind::open;
  std::int64_t epochs_done = 0;
  double seconds = 0;        ///< of the epochs that are done
  double start_seconds = 0;  ///< from its start to its first epoch
  std::string reason;        ///< of a failure, a sentence
};

/// The folder of a grid: runs/NAME are runs of regroup train; beside each lie its lock, its settings, what it printed
/// and, after a failure, the reason.
struct GridFolder {
  std::filesystem::path path;

  std::filesystem::path run(const std::string& name) const { return path / "runs" / name; }
  std::filesystem::path lock(const std::string& name) const { return path / "runs" / (name + ".lock"); }
  std::filesystem::path log(const std::string& name) const { return path / "runs" / (name + ".log"); }
  std::filesystem::path config(const std::string& name) const { return path / "runs" / (name + ".toml"); }
  std::filesystem::path failure(const std::string& name) const { return path / "runs" / (name + ".failed"); }

  RunState state(const std::string& name) const;
};

/// The grid as a whole, for whoever watches.
struct GridReport {
  std::size_t runs = 0, done = 0, failed = 0, elsewhere = 0;  ///< elsewhere: another process works on them
  std::vector<std::string> running;                           ///< what works here: name, epoch
  double share = 0;                                           ///< of all epochs
  double seconds_left = 0;                                    ///< not a number while nobody can tell
};

class GridObserver {
 public:
  GridObserver() = default;
  GridObserver(const GridObserver&) = delete;
  GridObserver& operator=(const GridObserver&) = delete;
  virtual ~GridObserver() = default;

  virtual void run_ended(const PlannedRun& /*run*/, const RunState& /*state*/) {}
  virtual void progress(const GridReport& /*report*/) {}
};

struct RunnerOptions {
  GridFolder folder;
  std::string program;                           ///< regroup itself: every run is a process of its own
  std::map<std::string, std::string> data_dirs;  ///< by dataset, of every run that names none
  std::string device = "auto";
  int jobs = 1;
  int threads = 1;                          ///< of a run
  const std::atomic<bool>* stop = nullptr;  ///< when it becomes true, the runs save what they have and end

  /// The settings of a run as they are here: with the place of its data, the device and the threads.
  Settings settings_of(const PlannedRun& run) const;
};

/// Does all runs that are not done yet, and returns when each is done or has failed, whoever did it, or when it was
/// stopped. A run that is stopped by a signal is left as it is. What failed at an earlier time is tried again, once.
GridReport run_plan(const std::vector<PlannedRun>& plan, const RunnerOptions& options, GridObserver& observer);

}  // namespace regroup
