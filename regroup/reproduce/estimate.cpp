#include "regroup/reproduce/estimate.h"

#include <algorithm>
#include <map>
#include <utility>

#include "regroup/core/clock.h"
#include "regroup/core/error.h"
#include "regroup/train/epoch_time.h"
#include "regroup/train/run_data.h"

namespace regroup {
namespace {

/// From a run of the same shape that has two batches per epoch.
RunTime measured_time(const Settings& settings) {
  const double start = clock_seconds();
  Observer silent;
  const auto threads = static_cast<int>(settings.integer("threads"));
  RunData data = load_run_data(settings, threads, silent);
  const double loading = clock_seconds() - start;
  const RunCounts counts = counts_of(data);
  auto& train = data.split.train;
  const std::size_t all = train.size();
  const auto few = std::min(all, static_cast<std::size_t>(2 * settings.integer("batch-size")));
  // Spread over the classes, which folders hold one after the other.
  for (std::size_t i = 0; i < few; ++i) train[i] = train[i * all / few];
  train.resize(few);
  data.limit_share *= static_cast<double>(few) / static_cast<double>(all);
  data.split.validation.clear();
  return {loading, measured_epoch_seconds(settings, std::move(data), counts)};
}

RunEstimate measured_estimate(const Settings& settings) {
  try {
    return {measured_time(settings), RunEstimate::Source::steps, ""};
  } catch (const UserError& error) {
    return {{}, RunEstimate::Source::nothing, error.what()};
  }
}

}  // namespace

std::vector<RunEstimate> estimate_runs(const std::vector<PlannedRun>& plan, const RunnerOptions& options) {
  const RunTimes times = times_in(options.folder);
  std::map<std::string, RunEstimate> tried;
  std::vector<RunEstimate> estimates;
  for (const PlannedRun& run : plan) {
    const Settings settings = options.settings_of(run);
    const std::string kind = run_kind(settings);
    if (const auto known = times.of(kind)) {
      estimates.push_back(
          {known->time, known->finished ? RunEstimate::Source::finished_runs : RunEstimate::Source::begun_runs, ""});
      continue;
    }
    if (!tried.contains(kind)) tried[kind] = measured_estimate(settings);
    estimates.push_back(tried[kind]);
  }
  return estimates;
}

}  // namespace regroup
