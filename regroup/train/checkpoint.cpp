#include "regroup/train/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <system_error>

#include "regroup/core/error.h"
#include "regroup/core/file.h"
#include "regroup/io/text_file.h"
#include "regroup/nn/weights.h"
#include "regroup/train/saved_predictors.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

/// Made last: where it is, the checkpoint is whole.
constexpr const char* progress_name = "progress.json";
constexpr std::size_t max_progress_bytes = 1U << 30;

bool is_whole(const fs::path& folder) {
  std::error_code none;
  return fs::exists(folder / progress_name, none);
}

fs::path old_name(const fs::path& folder) { return fs::path(folder).concat(".old"); }

/// `aside` takes the place of `folder`, in one move where the file system has that.
void take_place(const fs::path& aside, const fs::path& folder) {
  const auto old = old_name(folder);
  // Who cannot remove what is old has the new checkpoint all the same.
  std::error_code stays;
  sync_folder(aside);
  if (!fs::exists(folder)) {
    fs::rename(aside, folder);
  } else if (::renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) {
    sync_folder(folder.parent_path());
    fs::remove_all(aside, stays);
  } else {
    // A run that is killed in between has its checkpoint under its second name.
    fs::remove_all(old);
    fs::rename(folder, old);
    fs::rename(aside, folder);
  }
  sync_folder(folder.parent_path());
  fs::remove_all(old, stays);
}

/// The name of a tensor that holds a number that is not finite, if there is one.
std::optional<std::string> not_finite(const Network& network) {
  for (const NamedTensor& tensor : tensors_of(network))
    if (!is_within(tensor.tensor, {})) return tensor.name;
  return std::nullopt;
}

/// What must not be saved: the tensor that is broken.
std::optional<std::string> broken_tensor(Method& method, const State& state) {
  for (const auto& [name, network] : method.networks())
    if (const auto broken = not_finite(*network)) return name + ", " + *broken;
  return state.out_of_bounds();
}

SavedPredictors saved_predictors(Method& method) {
  SavedPredictors saved{method.primary(), {}};
  const auto networks = method.networks();
  for (const Predictor& predictor : method.predictors()) {
    saved.all.push_back({predictor.name, {}, predictor.mean});
    for (const auto& [name, network] : networks)
      if (std::find(predictor.networks.begin(), predictor.networks.end(), network) != predictor.networks.end())
        saved.all.back().networks.push_back(name);
  }
  return saved;
}

std::string moment(const RunProgress& progress) {
  const Place& place = progress.place;
  return place.step > 0 ? fmt::format("epoch {}, step {}", place.epoch + 1, place.step)
                        : fmt::format("after epoch {}", place.epoch);
}

}  // namespace

fs::path whole_checkpoint(const fs::path& folder) {
  return !is_whole(folder) && is_whole(old_name(folder)) ? old_name(folder) : folder;
}

bool has_checkpoint(const fs::path& folder) { return is_whole(whole_checkpoint(folder)); }

void save_checkpoint(const fs::path& folder, Method& method, const State& state, const RunProgress& progress,
                     const NetworkCard& card) {
  const auto aside = fs::path(folder).concat(".new");
  if (const auto broken = broken_tensor(method, state))
    throw UserError(fmt::format("{}: the weights are not finite any more ({}); try a lower learning rate",
                                moment(progress), *broken));
  try {
    fs::remove_all(aside);
    fs::create_directories(aside);
    for (const auto& [name, network] : method.networks())
      save_tensors(aside / (name + ".safetensors"), tensors_of(*network), card_metadata(card));
    save_tensors(aside / "state.safetensors", state.tensors());
    write_file(aside / predictors_name, predictors_text(saved_predictors(method)));
    write_file(aside / progress_name, progress_text(progress));
    take_place(aside, folder);
  } catch (const fs::filesystem_error& error) {
    throw UserError(fmt::format("{}: cannot be written: {}", folder.string(), error.code().message()));
  }
}

RunProgress read_progress(const fs::path& folder) {
  const fs::path file = whole_checkpoint(folder) / progress_name;
  return parse_progress(read_text(file, max_progress_bytes), file.string());
}

RunProgress load_checkpoint(const fs::path& folder, Method& method, const State& state) {
  const fs::path from = whole_checkpoint(folder);
  for (const auto& [name, network] : method.networks())
    load_tensors(from / (name + ".safetensors"), tensors_of(*network));
  load_tensors(from / "state.safetensors", state.tensors(), state.growing());
  if (const auto broken = broken_tensor(method, state))
    throw UserError(fmt::format("{}: '{}' holds what no run has; the checkpoint is damaged", from.string(), *broken));
  return read_progress(folder);
}

}  // namespace regroup
