#pragma once

#include <functional>
#include <string>
#include <vector>

#include "regroup/reproduce/run_times.h"

namespace regroup {

/// How long a run takes here.
struct RunEstimate {
  enum class Source {
    finished_runs,  ///< of the same kind
    begun_runs,     ///< likewise, where none is finished: a later phase may be slower
    steps,          ///< some seconds of training that leave nothing behind
    nothing,        ///< it could not be tried
  };

  RunTime time;
  Source source = Source::nothing;
  std::string reason;  ///< of nothing, a sentence
};

/// What the runs of a plan take on this machine, in their order. Runs of one kind share an estimate. `measuring` is
/// told before a run is tried for some seconds.
std::vector<RunEstimate> estimate_runs(
    const std::vector<PlannedRun>& plan, const RunnerOptions& options,
    const std::function<void(const PlannedRun&)>& measuring = [](const PlannedRun&) {});

}  // namespace regroup
