#include "regroup/train/trained_network.h"

#include <fmt/format.h>

#include "regroup/core/error.h"
#include "regroup/methods/method.h"
#include "regroup/nn/weights.h"
#include "regroup/train/run_settings.h"

namespace regroup {
namespace {

/// The primary network's file: the momentum model's where the method prefers it and there is one.
std::filesystem::path primary_file(const std::filesystem::path& run, const std::string& checkpoint) {
  const auto folder = whole_checkpoint(run / checkpoint);
  if (!has_checkpoint(folder)) {
    const bool has_last = has_checkpoint(run / "last");
    throw UserError(fmt::format("{}: there is no {}/ in it{}; {}", run.string(), checkpoint, has_last ? " yet" : "",
                                has_last ? "give --checkpoint last" : "give a run's folder or a .safetensors file"));
  }
  const Settings settings = resolve_settings({read_config((run / "config.toml").string())});
  const std::string primary = method_named(settings.text("method")).primary(settings);
  return folder / (primary + ".safetensors");
}

}  // namespace

TrainedNetwork load_trained_network(const std::filesystem::path& file_or_run, const std::string& checkpoint,
                                    at::Device device) {
  if (!std::filesystem::exists(file_or_run)) throw UserError(fmt::format("{}: does not exist", file_or_run.string()));
  const bool is_run = std::filesystem::is_directory(file_or_run);
  TrainedNetwork trained;
  trained.file = is_run ? primary_file(file_or_run, checkpoint) : file_or_run;
  trained.card = read_card(trained.file);
  const NetworkCard& card = trained.card;
  trained.network = make_network(
      card.model, {card.channels, card.height, card.width, static_cast<int>(card.class_names.size()), card.base_width},
      0);
  load_tensors(trained.file, tensors_of(*trained.network));
  trained.network->training = false;
  trained.network->move_to(device);
  return trained;
}

EvaluationOptions evaluation_of(const NetworkCard& card, at::Device device, Precision precision) {
  return {{card.mean, card.deviation}, {device, precision, 1, card.test_flip}};
}

}  // namespace regroup
