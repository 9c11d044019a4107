#pragma once

#include "regroup/core/settings.h"
#include "regroup/train/run_data.h"

namespace regroup {

/// How many images a run has.
struct RunCounts {
  double train = 0, validation = 0, tests = 0;
};
RunCounts counts_of(const RunData& data);

/// The seconds that an epoch of a run takes on this machine, its share of the measurements included. Found out by a
/// short run with the same settings on `sample`, a few of its images: phases that are shares of a run have their share
/// of it.
double measured_epoch_seconds(const Settings& settings, RunData sample, const RunCounts& counts);

}  // namespace regroup
