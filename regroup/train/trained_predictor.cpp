#include "regroup/train/trained_predictor.h"

#include <fmt/format.h>

#include "regroup/core/error.h"
#include "regroup/nn/weights.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

/// `prefix` is before the names of its tensors in the file.
std::unique_ptr<Network> load_network(const fs::path& file, const NetworkCard& card, at::Device device,
                                      const std::string& prefix = "") {
  auto network = make_network(card.model,
                              {card.channels, card.height, card.width, static_cast<int>(card.class_names.size()),
                               card.base_width, card.is_vector()},
                              0);
  std::vector<NamedTensor> tensors = tensors_of(*network);
  for (NamedTensor& tensor : tensors) tensor.name.insert(0, prefix);
  load_tensors(file, tensors);
  network->training = false;
  network->move_to(device);
  return network;
}

TrainedPredictor from_file(const fs::path& file, at::Device device) {
  TrainedPredictor trained{file.string(), read_card(file), {}};
  const auto networks = static_cast<std::size_t>(trained.card.networks);
  for (std::size_t i = 0; i < networks; ++i)
    trained.networks.push_back(load_network(file, trained.card, device, networks > 1 ? network_prefix(i) : ""));
  if (trained.card.mean_of_logits) trained.mean = PredictorMean::logits;
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
  return {{card.mean, card.deviation}, {device, card.is_vector() ? Precision::fp32 : precision, 1, card.test_flip}};
}

}  // namespace regroup
