#pragma once

#include <string>
#include <vector>

#include "regroup/reproduce/runner.h"

namespace regroup {

/// How long a run takes here.
struct RunEstimate {
  double seconds = 0;     ///< of the whole run
  bool measured = false;  ///< on a finished run of the same kind, and not on a few steps
};

/// What the runs of a plan take on this machine, in their order. Runs of one kind (method, network, data) share an
/// estimate: from finished runs in the folder, else from some seconds of training that leave nothing behind.
std::vector<RunEstimate> estimate_runs(const std::vector<PlannedRun>& plan, const RunnerOptions& options);

}  // namespace regroup
