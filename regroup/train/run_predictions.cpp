#include "regroup/train/run_predictions.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "regroup/core/error.h"
#include "regroup/core/memory.h"
#include "regroup/core/parallel.h"
#include "regroup/io/safetensors.h"
#include "regroup/io/text_file.h"
#include "regroup/train/checkpoint.h"
#include "regroup/train/data_change.h"
#include "regroup/train/run_settings.h"
#include "regroup/train/trained_predictor.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

/// Fills `values` by a tensor of the checkpoint, which may be damaged. False: it is not there, or does not fit.
template <class T>
bool fill(const SafetensorsFile& file, const std::string& name, const char* dtype, std::vector<T>& values) {
  const TensorBytes* const tensor = file.find(name);
  if (tensor == nullptr || tensor->dtype != dtype || tensor->bytes.size() != values.size() * sizeof(T)) return false;
  if (!values.empty()) std::memcpy(values.data(), tensor->bytes.data(), tensor->bytes.size());
  return true;
}

/// The predictions that were collected while training; an empty book where the run has none.
PredictionBook read_history(const fs::path& checkpoint, const TrainingSet& samples) {
  const SafetensorsFile file(checkpoint / "state.safetensors");
  PredictionBook book(samples.labels, samples.classes);
  const bool whole = fill(file, "predictions.shares", "F32", book.shares()) &&
                     fill(file, "predictions.names", "I32", book.names()) &&
                     fill(file, "predictions.turns", "I32", book.turn_counts()) &&
                     fill(file, "predictions.losses", "F32", book.losses()) &&
                     fill(file, "predictions.margins", "F32", book.margins());
  if (!whole) return {samples.labels, samples.classes};
  if (!book.sound())
    throw UserError(fmt::format("{}: holds what no run has; the checkpoint is damaged", checkpoint.string()));
  return book;
}

std::vector<float> read_noise_rates(const fs::path& checkpoint) {
  const SafetensorsFile file(checkpoint / "state.safetensors");
  const TensorBytes* const tensor = file.find("noise_rates");
  std::vector<float> rates(tensor != nullptr ? tensor->bytes.size() / sizeof(float) : 0);
  if (!fill(file, "noise_rates", "F32", rates)) return {};
  if (std::ranges::any_of(rates, [](float rate) { return rate < 0 || rate > 1; }))
    throw UserError(fmt::format("{}: holds what no run has; the checkpoint is damaged", checkpoint.string()));
  return rates;
}

ScoredSamples score(const TrainedPredictor& trained, const SampleSource& source, std::vector<std::uint32_t> positions,
                    std::vector<std::int32_t> labels, const EvaluationOptions& options) {
  // Features of so many samples that they would fill the memory are left out.
  constexpr double most_of_memory = 0.2;
  constexpr std::size_t some = 20'000;  // samples at a time
  const int classes = static_cast<int>(trained.card.class_names.size());
  ScoredSamples scored{std::move(positions), PredictionBook(std::move(labels), classes), {}, 0};
  bool keeps = true;
  for (std::size_t begin = 0; begin < scored.positions.size(); begin += some) {
    const std::size_t count = std::min(some, scored.positions.size() - begin);
    const Scores scores = probabilities_and_features(trained.predictor(), source,
                                                     std::span(scored.positions).subspan(begin, count), options);
    const at::Tensor rows = scores.logits.clamp_min(1e-12).log().to(at::kFloat).contiguous();
    std::vector<std::uint32_t> slots(count);
    std::iota(slots.begin(), slots.end(), static_cast<std::uint32_t>(begin));
    scored.last.record(slots, {rows.data_ptr<float>(), static_cast<std::size_t>(rows.numel())});
    const at::Tensor features = scores.features.flatten(1).to(at::kFloat).contiguous();
    scored.dimension = static_cast<std::size_t>(features.size(1));
    const double bytes = 4.0 * static_cast<double>(scored.dimension) * static_cast<double>(scored.positions.size());
    keeps = bytes < most_of_memory * physical_memory();
    if (keeps)
      scored.features.insert(scored.features.end(), features.data_ptr<float>(),
                             features.data_ptr<float>() + features.numel());
  }
  return scored;
}

}  // namespace

RunPredictions read_run_predictions(const fs::path& run, const std::vector<GivenValue>& given,
                                    const std::string& device_name, Observer& observer) {
  if (!fs::exists(run / "config.toml"))
    throw UserError(fmt::format("{}: is not the folder of a run; regroup train makes one, and regroup runs lists them",
                                run.string()));
  if (!has_checkpoint(run / "last"))
    throw UserError(fmt::format("{}: has no checkpoint yet; wait for its first epoch", run.string()));
  const Settings settings = resolve_settings({read_config((run / "config.toml").string()), given});
  const at::Device device = choose_device(device_name);
  const TrainedPredictor trained = load_trained_predictor(run, "last", device);
  EvaluationOptions options = evaluation_of(trained.card, device, choose_precision(settings.text("precision"), device));
  RunData data = load_run_data(settings, hardware_threads(), observer,
                               Normalisation{trained.card.mean, trained.card.deviation}, {}, /*texts=*/true);
  if (labels_csv(data) != read_text(run / "labels.csv"))
    throw UserError(fmt::format("{}: the data is not what this run learnt from: {}", run.string(),
                                describe_change(read_text(run / "labels.csv"), data)));
  const TrainingSet samples = training_set(data);
  options.scoring.workers = loading_threads(settings, *samples.source);
  const auto labels_of = [&](std::span<const std::uint32_t> positions) {
    std::vector<std::int32_t> labels;
    for (const std::uint32_t position : positions) labels.push_back(data.observed[position]);
    return labels;
  };
  ScoredSamples train = score(trained, *samples.source, data.split.train, labels_of(data.split.train), options);
  ScoredSamples validation =
      score(trained, *samples.source, data.split.validation, labels_of(data.split.validation), options);
  std::vector<ScoredSamples> tests;
  for (const TestSet& test : data.dataset.tests) {
    std::vector<std::uint32_t> all(test.set.size());
    std::iota(all.begin(), all.end(), 0U);
    tests.push_back(score(trained, *test.set.source, std::move(all), test.set.labels, options));
  }
  const RunProgress progress = read_progress(run / "last");
  PredictionBook history = read_history(whole_checkpoint(run / "last"), samples);
  return {std::move(data),       std::move(train),
          std::move(validation), std::move(tests),
          std::move(history),    read_noise_rates(whole_checkpoint(run / "last")),
          progress.place.epoch,  static_cast<int>(settings.integer("epochs"))};
}

}  // namespace regroup
