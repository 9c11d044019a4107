#pragma once

#include <map>
#include <optional>
#include <string>

#include "regroup/reproduce/runner.h"

namespace regroup {

/// How long a run takes.
struct RunTime {
  double start = 0;  ///< seconds before the first epoch: the program starts and loads the data
  double epoch = 0;  ///< seconds per epoch, with its share of the measuring

  double left(std::int64_t epochs) const { return epochs > 0 ? start + epoch * static_cast<double>(epochs) : 0; }
};

/// Runs of one kind take the same time per epoch, roughly: the same method, network, data, sizes and threads.
std::string run_kind(const Settings& settings);

/// What the runs of each kind took. Finished runs count; those that have only begun where a kind has no other.
class RunTimes {
 public:
  struct Known {
    RunTime time;
    bool finished = false;
  };

  void add(const std::string& kind, const RunState& state);
  std::optional<Known> of(const std::string& kind) const;

  /// Over the kinds that are known, for a kind that is not; nothing where none is.
  std::optional<RunTime> mean() const;

 private:
  struct Sum {
    double start = 0, seconds = 0, epochs = 0;
    int runs = 0;

    RunTime time() const { return {start / runs, seconds / epochs}; }
  };

  std::map<std::string, Sum> finished_, begun_;
};

/// From all runs that the folder has, also those of other grids.
RunTimes times_in(const GridFolder& folder);

}  // namespace regroup
