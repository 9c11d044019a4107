#include "regroup/train/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>

#include "regroup/core/error.h"
#include "regroup/core/file.h"
#include "regroup/data/safetensors.h"
#include "regroup/nn/weights.h"

namespace regroup {
namespace {

using nlohmann::json;

json number(double value) { return std::isnan(value) ? json() : json(value); }

double number(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

std::string progress_text(const RunProgress& progress) {
  json rows = json::array();
  for (const EpochMetrics& row : progress.rows) {
    json values = json::array();
    for (const auto& [name, value] : row.values) values.push_back({name, number(value)});
    rows.push_back({{"epoch", row.epoch}, {"values", values}});
  }
  return json{{"epoch", progress.epoch},
              {"step", progress.step},
              {"seconds", progress.seconds},
              {"epoch_seconds", progress.epoch_seconds},
              {"estimator_seconds", progress.estimator_seconds},
              {"epoch_estimator_seconds", progress.epoch_estimator_seconds},
              {"waited_seconds", progress.waited_seconds},
              {"best_validation", progress.best_validation},
              {"fingerprint", progress.fingerprint},
              {"machine", progress.machine},
              {"rows", rows}}
      .dump(1);
}

RunProgress parse_progress(const json& content) {
  RunProgress progress;
  progress.epoch = content.at("epoch");
  progress.step = content.at("step");
  progress.seconds = content.at("seconds");
  progress.epoch_seconds = content.at("epoch_seconds");
  progress.estimator_seconds = content.at("estimator_seconds");
  progress.epoch_estimator_seconds = content.at("epoch_estimator_seconds");
  progress.waited_seconds = content.at("waited_seconds");
  progress.best_validation = content.at("best_validation");
  progress.fingerprint = content.at("fingerprint");
  progress.machine = content.at("machine");
  for (const json& row : content.at("rows")) {
    EpochMetrics metrics;
    metrics.epoch = row.at("epoch");
    for (const json& value : row.at("values")) metrics.add(value.at(0), number(value.at(1)));
    progress.rows.push_back(std::move(metrics));
  }
  return progress;
}

/// `aside` takes the place of `folder`, in one move where the file system has that.
void take_place(const std::filesystem::path& aside, const std::filesystem::path& folder) {
  const auto old = std::filesystem::path(folder).concat(".old");
  if (!std::filesystem::exists(folder)) {
    std::filesystem::rename(aside, folder);
  } else if (::renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) {
    std::filesystem::remove_all(aside);
  } else {
    // Somebody who is killed in between finds the checkpoint under its second name.
    std::filesystem::remove_all(old);
    std::filesystem::rename(folder, old);
    std::filesystem::rename(aside, folder);
  }
  std::filesystem::remove_all(old);
}

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in) throw UserError(fmt::format("{}: cannot be read", file.string()));
  return text;
}

}  // namespace

std::map<std::string, std::string> card_metadata(const NetworkCard& card) {
  return {{"format", "pt"},
          {"regroup", json{{"model", card.model},
                           {"base_width", card.base_width},
                           {"channels", card.channels},
                           {"height", card.height},
                           {"width", card.width},
                           {"class_names", card.class_names},
                           {"mean", card.mean},
                           {"deviation", card.deviation},
                           {"test_flip", card.test_flip}}
                          .dump()}};
}

NetworkCard read_card(const std::filesystem::path& weights_file) {
  const SafetensorsFile file(weights_file);
  const auto entry = file.metadata().find("regroup");
  if (entry == file.metadata().end())
    throw UserError(fmt::format("{}: does not say which network it belongs to; give a file that regroup train wrote",
                                weights_file.string()));
  try {
    const json content = json::parse(entry->second);
    NetworkCard card;
    card.model = content.at("model");
    card.base_width = content.at("base_width");
    card.channels = content.at("channels");
    card.height = content.at("height");
    card.width = content.at("width");
    card.class_names = content.at("class_names").get<std::vector<std::string>>();
    card.mean = content.at("mean").get<std::vector<float>>();
    card.deviation = content.at("deviation").get<std::vector<float>>();
    card.test_flip = content.at("test_flip");
    if (card.channels < 1 || card.channels > 4 || card.height < 28 || card.width < 28 || card.height > 4096 ||
        card.width > 4096 || card.class_names.empty() || card.base_width < 1 || card.base_width > 1024 ||
        card.mean.size() != static_cast<std::size_t>(card.channels) || card.deviation.size() != card.mean.size())
      throw UserError(fmt::format("{}: its description of the network makes no sense", weights_file.string()));
    return card;
  } catch (const json::exception& error) {
    throw UserError(
        fmt::format("{}: its description of the network is broken: {}", weights_file.string(), error.what()));
  }
}

void save_checkpoint(const std::filesystem::path& folder, Method& method, const State& state,
                     const RunProgress& progress, const NetworkCard& card) {
  const auto aside = std::filesystem::path(folder).concat(".new");
  try {
    std::filesystem::remove_all(aside);
    std::filesystem::create_directories(aside);
    for (const auto& [name, network] : method.networks())
      save_tensors(aside / (name + ".safetensors"), tensors_of(*network), card_metadata(card));
    save_tensors(aside / "state.safetensors", state.tensors());
    write_file(aside / "progress.json", progress_text(progress));
    take_place(aside, folder);
  } catch (const std::filesystem::filesystem_error& error) {
    throw UserError(
        fmt::format("{}: cannot be written: {}; the checkpoint before is whole, and --resume goes on from it",
                    folder.string(), error.code().message()));
  } catch (const UserError& error) {
    throw UserError(fmt::format("{} The checkpoint before is whole, and --resume goes on from it", error.what()));
  }
}

RunProgress read_progress(const std::filesystem::path& folder) {
  const auto file = folder / "progress.json";
  try {
    return parse_progress(json::parse(read_text(file)));
  } catch (const json::exception& error) {
    throw UserError(fmt::format("{}: is not a checkpoint's progress: {}", file.string(), error.what()));
  }
}

RunProgress load_checkpoint(const std::filesystem::path& folder, Method& method, const State& state) {
  const auto old = std::filesystem::path(folder).concat(".old");
  const auto& from = !std::filesystem::exists(folder) && std::filesystem::exists(old) ? old : folder;
  for (const auto& [name, network] : method.networks())
    load_tensors(from / (name + ".safetensors"), tensors_of(*network));
  load_tensors(from / "state.safetensors", state.tensors());
  return read_progress(from);
}

}  // namespace regroup
