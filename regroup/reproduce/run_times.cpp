#include "regroup/reproduce/run_times.h"

#include <fmt/format.h>

#include "regroup/core/error.h"

namespace regroup {

namespace fs = std::filesystem;

std::string run_kind(const Settings& settings) {
  std::string kind;
  for (const std::string_view name :
       {"method", "model", "width", "data", "image-size", "limit", "val-split", "epoch-batches", "batch-size",
        "record-losses", "eval-every", "test-flip", "precision", "device", "threads", "workers"})
    if (settings.declared(name)) kind += fmt::format("{} {}, ", name, to_text(settings.value(name)));
  return kind;
}

void RunTimes::add(const std::string& kind, const RunState& state) {
  if (state.epochs_done == 0 || state.kind == RunState::Kind::failed) return;
  Sum& sum = (state.kind == RunState::Kind::done ? finished_ : begun_)[kind];
  sum.start += state.start_seconds;
  sum.seconds += state.seconds;
  sum.epochs += static_cast<double>(state.epochs_done);
  ++sum.runs;
}

std::optional<RunTimes::Known> RunTimes::of(const std::string& kind) const {
  if (const auto found = finished_.find(kind); found != finished_.end()) return Known{found->second.time(), true};
  if (const auto found = begun_.find(kind); found != begun_.end()) return Known{found->second.time(), false};
  return std::nullopt;
}

std::optional<RunTime> RunTimes::mean() const {
  Sum all;
  for (const auto* sums : {&finished_, &begun_})
    for (const auto& [kind, sum] : *sums) {
      all.start += sum.start;
      all.seconds += sum.seconds;
      all.epochs += sum.epochs;
      all.runs += sum.runs;
    }
  return all.runs > 0 ? std::optional(all.time()) : std::nullopt;
}

RunTimes times_in(const GridFolder& folder) {
  RunTimes times;
  std::error_code no_runs_yet;
  for (const auto& entry : fs::directory_iterator(folder.path / "runs", no_runs_yet)) {
    const fs::path config = entry.path() / "config.toml";
    if (!fs::exists(config)) continue;
    try {
      times.add(run_kind(resolve_settings({read_config(config.string())})),
                folder.state(entry.path().filename().string()));
    } catch (const UserError&) {
      // A run of another version of the program, or one that was damaged, says nothing about time.
    }
  }
  return times;
}

}  // namespace regroup
