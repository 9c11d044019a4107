#include "regroup/reproduce/estimate.h"

#include <algorithm>
#include <map>
#include <utility>

#include "regroup/core/clock.h"
#include "regroup/core/error.h"
#include "regroup/nn/network.h"
#include "regroup/train/epoch_time.h"
#include "regroup/train/run_data.h"

namespace regroup {
namespace {

/// Smaller batches where a step of a large network would take seconds: an image takes as long in those.
Settings in_quick_steps(const Settings& settings, const RunData& data) {
  constexpr double enough = 5e10;  // multiply-adds per step
  constexpr std::int64_t fewest = 8;
  const SampleShape image = data.dataset.train.source->shape();
  const auto network = make_network(settings.text("model"),
                                    {image.channels, image.height, image.width, data.dataset.classes(),
                                     static_cast<int>(settings.integer("width")), image.is_vector},
                                    1);
  // A backward pass costs as much as two forward passes.
  const auto most = static_cast<std::int64_t>(enough / (3 * network->multiply_adds));
  const std::int64_t batch = settings.integer("batch-size"), quick = std::min(batch, std::max(fewest, most));
  Settings changed = settings;
  changed.set("batch-size", quick, "estimate");
  changed.set("epoch-batches", settings.integer("epoch-batches") * batch / quick, "estimate");
  return changed;
}

/// From a run of the same shape that has two batches per epoch.
RunTime measured_time(const Settings& given) {
  const double start = clock_seconds();
  Observer silent;
  const auto threads = static_cast<int>(given.integer("threads"));
  RunData data = load_run_data(given, threads, silent);
  const Settings settings = in_quick_steps(given, data);
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

std::vector<RunEstimate> estimate_runs(const std::vector<PlannedRun>& plan, const RunnerOptions& options,
                                       const std::function<void(const PlannedRun&)>& measuring) {
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
    if (!tried.contains(kind)) {
      measuring(run);
      tried[kind] = measured_estimate(settings);
    }
    estimates.push_back(tried[kind]);
  }
  return estimates;
}

}  // namespace regroup
