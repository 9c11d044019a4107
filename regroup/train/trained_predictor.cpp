#include "regroup/train/trained_predictor.h"

#include <fmt/format.h>

#include "regroup/core/error.h"
#include "regroup/nn/weights.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Network> load_network(const fs::path& file, const NetworkCard& card, at::Device device) {
  auto network = make_network(
      card.model, {card.channels, card.height, card.width, static_cast<int>(card.class_names.size()), card.base_width},
      0);
  load_tensors(file, tensors_of(*network));
  network->training = false;
  network->move_to(device);
  return network;
}

TrainedPredictor from_file(const fs::path& file, at::Device device) {
  TrainedPredictor trained{file.string(), read_card(file), {}};
  trained.networks.push_back(load_network(file, trained.card, device));
  return trained;
}

TrainedPredictor from_run(const fs::path& run, const std::string& checkpoint, at::Device device) {
  const fs::path folder = whole_checkpoint(run / checkpoint);
  if (!has_checkpoint(folder)) {
    const bool has_last = has_checkpoint(run / "last");
    throw UserError(fmt::format("{}: there is no {}/ in it{}; {}", run.string(), checkpoint, has_last ? " yet" : "",
                                has_last ? "give --checkpoint last" : "give a run's folder or a .safetensors file"));
  }
  const SavedPredictor saved = read_predictors(folder / predictors_name).primary_predictor();
  const auto file = [&](const std::string& network) { return folder / (network + ".safetensors"); };
  TrainedPredictor trained{(folder / saved.name).string(), read_card(file(saved.networks.front())), {}, saved.mean};
  for (const std::string& network : saved.networks)
    trained.networks.push_back(load_network(file(network), trained.card, device));
  return trained;
}

}  // namespace

Predictor TrainedPredictor::predictor() const {
  Predictor predictor{fs::path(source).stem().string(), {}, mean};
  for (const auto& network : networks) predictor.networks.push_back(network.get());
  return predictor;
}

TrainedPredictor load_trained_predictor(const fs::path& file_or_run, const std::string& checkpoint, at::Device device) {
  if (!fs::exists(file_or_run)) throw UserError(fmt::format("{}: does not exist", file_or_run.string()));
  return fs::is_directory(file_or_run) ? from_run(file_or_run, checkpoint, device) : from_file(file_or_run, device);
}

EvaluationOptions evaluation_of(const NetworkCard& card, at::Device device, Precision precision) {
  return {{card.mean, card.deviation}, {device, precision, 1, card.test_flip}};
}

}  // namespace regroup
