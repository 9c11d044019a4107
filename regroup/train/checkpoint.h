#pragma once

#include <filesystem>

#include "regroup/methods/method.h"
#include "regroup/train/network_card.h"
#include "regroup/train/progress.h"

namespace regroup {

/// The folder that holds a checkpoint: `folder` itself, or the one beside it that a kill between two renames leaves
/// (`last.old`), where only that is there. `folder` also where there is none.
std::filesystem::path whole_checkpoint(const std::filesystem::path& folder);

bool has_checkpoint(const std::filesystem::path& folder);

/// Writes a checkpoint to `folder`: every network as NAME.safetensors, who predicts by which networks, `state` and
/// progress. It is written aside and then takes the folder's place at once: at any moment the folder holds a whole
/// checkpoint, the old one or the new one. Weights that are not finite are never written: UserError.
void save_checkpoint(const std::filesystem::path& folder, Method& method, const State& state,
                     const RunProgress& progress, const NetworkCard& card);

/// The progress of a checkpoint, without its tensors.
RunProgress read_progress(const std::filesystem::path& folder);

/// Fills networks and state, and returns the progress. What no run can have saved is a UserError.
RunProgress load_checkpoint(const std::filesystem::path& folder, Method& method, const State& state);

}  // namespace regroup
