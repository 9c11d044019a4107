#include "regroup/train/run_data.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "regroup/core/error.h"
#include "regroup/data/labels_file.h"
#include "regroup/data/vectors.h"
#include "regroup/io/csv.h"
#include "regroup/nn/network.h"
#include "regroup/train/init_weights.h"

namespace regroup {
namespace {

/// `observer` must outlive them.
LoadOptions load_options(const Settings& settings, int threads, Observer& observer) {
  LoadOptions options;
  if (!settings.text("data-dir").empty()) options.data_dir = settings.text("data-dir");
  options.image_size = static_cast<int>(settings.integer("image-size"));
  options.max_size = network_named(settings.text("model")).largest_image;
  options.resize = static_cast<int>(settings.integer("resize"));
  options.whole_images = settings.text("crop") != "shift";
  const std::string& keep = settings.text("keep-images");
  options.keep = keep == "memory" ? KeepImages::memory : keep == "disk" ? KeepImages::disk : KeepImages::by_size;
  options.cache = settings.text("cache");
  options.cache_bytes = 1e9 * static_cast<double>(settings.integer("cache-size"));
  options.on_bad_image = settings.text("on-bad-image") == "skip" ? BadImage::skip : BadImage::refuse;
  options.test_split = settings.number("test-split");
  options.labels = settings.text("labels");
  options.vector_bytes = 1e9 * settings.number("vector-memory");
  // The test part does not follow the run's seed: runs with other seeds are measured on the same images, and an index
  // means the same image in all of them.
  options.threads = threads;
  options.progress = [&observer](std::size_t done, std::size_t total) { observer.loading(done, total); };
  options.warn = [&observer](const std::string& sentence) { observer.message(sentence); };
  options.tell = [&observer](const std::string& sentence) { observer.note(sentence); };
  return options;
}

/// The labels that the run learns from, and the true ones as far as they are known.
void choose_labels(const Settings& settings, int threads, const Tell& tell, RunData& data) {
  const LabelledSet& images = data.dataset.train;
  data.observed = images.labels;
  data.clean = data.dataset.labels_are_true ? images.labels : images.clean;
  const NoiseSpec noise = parse_noise(settings.text("noise"));
  if (!settings.text("labels").empty() && !data.dataset.has_file_labels) {
    if (noise.kind != NoiseKind::none)
      throw UserError("labels and noise are both given; the labels of a file are taken as they are, so leave one out");
    LabelsFile file = read_labels(settings.text("labels"), data.dataset, tell);
    data.observed = std::move(file.labels);
    if (!file.clean.empty()) data.clean = std::move(file.clean);
  }
  if (noise.kind != NoiseKind::none) {
    data.clean = images.labels;
    data.observed = make_run_noise(settings, data.dataset, threads).labels;
  }
}

/// Noise was made on the whole training set; now the split is taken, which is the data's own where that has one, and
/// then the subset from what is left to train on.
void choose_samples(const Settings& settings, RunData& data) {
  const auto seed = static_cast<std::uint64_t>(settings.integer("seed"));
  const int classes = data.dataset.classes();
  if (data.dataset.validation_count > 0) {
    const auto count = static_cast<std::uint32_t>(data.observed.size());
    const auto begin = count - static_cast<std::uint32_t>(data.dataset.validation_count);
    for (std::uint32_t i = 0; i < count; ++i) (i < begin ? data.split.train : data.split.validation).push_back(i);
  } else {
    data.split = split_validation(data.observed, classes, settings.number("val-split"), seed);
  }
  const auto limit = static_cast<std::size_t>(settings.integer("limit"));
  if (limit == 0 || limit >= data.split.train.size()) return;

  data.limit_share = static_cast<double>(limit) / static_cast<double>(data.split.train.size());
  const auto keep = [&](std::vector<std::uint32_t>& positions, std::size_t count) {
    std::vector<std::int32_t> labels;
    for (const std::uint32_t position : positions) labels.push_back(data.observed[position]);
    std::vector<std::uint32_t> kept;
    for (const std::uint32_t chosen : stratified_subset(labels, classes, count, seed))
      kept.push_back(positions[chosen]);
    positions = std::move(kept);
  };
  keep(data.split.train, limit);
  // The validation part shrinks alike, so that a short run is not spent on measuring.
  keep(data.split.validation,
       static_cast<std::size_t>(std::lround(data.limit_share * static_cast<double>(data.split.validation.size()))));
}

}  // namespace

double RunData::noise_rate() const {
  double known = 0, wrong = 0;
  for (const std::uint32_t position : split.train) {
    if (clean.empty() || clean[position] < 0) continue;
    ++known;
    wrong += is_wrong(position) ? 1 : 0;
  }
  return known > 0 ? wrong / known : std::numeric_limits<double>::quiet_NaN();
}

Dataset load_run_images(const Settings& settings, int threads, Observer& observer, const ChooseSide& choose_side,
                        bool texts) {
  LoadOptions options = load_options(settings, threads, observer);
  options.texts = texts;
  options.choose_side = choose_side;
  return load_dataset(settings.text("data"), options);
}

Features sample_features(std::shared_ptr<const SampleSource> source) {
  const SampleShape shape = source->shape();
  return {shape.values(), [shape, source = std::move(source)](std::size_t index, std::span<float> row) {
            SampleScratch scratch;
            if (shape.is_vector) return read_numbers(source->read(static_cast<std::uint32_t>(index), scratch), row);
            std::vector<std::uint8_t> middle(shape.values());
            copy_middle(source->read(static_cast<std::uint32_t>(index), scratch), shape, middle);
            std::ranges::copy(middle, row.begin());
          }};
}

NoisyLabels make_run_noise(const Settings& settings, const Dataset& dataset, int threads) {
  const LabelledSet& images = dataset.train;
  return make_noisy(parse_noise(settings.text("noise")), images.labels, dataset.classes(),
                    sample_features(images.source), static_cast<std::uint64_t>(settings.integer("seed")), threads);
}

RunData load_run_data(const Settings& settings, int threads, Observer& observer,
                      const std::optional<Normalisation>& normalisation, const ChooseSide& choose_side, bool texts) {
  RunData data;
  // A file that cannot be used is told before the images are read.
  const std::string& weights = settings.text("init-weights");
  if (!normalisation && !weights.empty()) init_weights_card(weights);
  data.dataset = load_run_images(settings, threads, observer, choose_side, texts);
  const Tell tell = [&observer](const std::string& sentence) { observer.message(sentence); };
  choose_labels(settings, threads, tell, data);
  choose_samples(settings, data);
  if (!settings.text("trusted").empty()) data.trusted = read_trusted(settings.text("trusted"), data.dataset, tell);
  const SampleSource& images = *data.dataset.train.source;
  const auto known = normalisation ? normalisation
                     : images.shape().is_vector
                         ? std::nullopt
                         : known_normalisation(settings.text("normalisation"), weights, images.shape().channels);
  data.normalisation = known ? *known : measure_normalisation(images, threads);
  return data;
}

TrainingSet training_set(const RunData& data) {
  TrainingSet set;
  set.source = data.dataset.train.source;
  set.positions = data.split.train;
  for (std::size_t slot = 0; slot < set.positions.size(); ++slot) {
    set.labels.push_back(data.observed[set.positions[slot]]);
    if (std::binary_search(data.trusted.begin(), data.trusted.end(), set.positions[slot]))
      set.trusted.push_back(static_cast<std::uint32_t>(slot));
  }
  set.validation = data.split.validation;
  for (const std::uint32_t position : set.validation) set.validation_labels.push_back(data.observed[position]);
  set.classes = data.dataset.classes();
  set.normalisation = data.normalisation;
  set.mirrored_is_same = data.dataset.mirrored_is_same;
  set.limit_share = data.limit_share;
  return set;
}

std::string labels_csv(const RunData& data) { return labels_csv(data.observed, data.clean, data.dataset.train.paths); }

}  // namespace regroup
