#include "regroup/methods/context.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "regroup/core/parallel.h"
#include "regroup/data/split.h"
#include "regroup/labels/noise_rate_estimate.h"
#include "regroup/labels/transition_fit.h"
#include "regroup/methods/mixing.h"
#include "regroup/nn/adam.h"
#include "regroup/nn/engine_threads.h"
#include "regroup/nn/label_losses.h"
#include "regroup/nn/sgd.h"

namespace regroup {
namespace {

Augmentation augmentation_of(const Settings& settings, const TrainingSet& samples) {
  if (samples.source->shape().is_vector) return no_augmentation;
  Augmentation augmentation;
  augmentation.shift = static_cast<int>(settings.integer("shift"));
  augmentation.padding = settings.text("padding") == "reflect" ? Padding::reflect : Padding::zero;
  const std::string& flip = settings.text("flip");
  const bool sensible = flip != "auto" || samples.mirrored_is_same;
  augmentation.flip = !sensible || flip == "none" ? Flip::none : flip == "alternate" ? Flip::alternate : Flip::random;
  const std::string& crop = settings.text("crop");
  augmentation.crop = crop == "random" ? Crop::random : crop == "resized" ? Crop::resized : Crop::shift;
  augmentation.smallest_part = settings.number("crop-area");
  augmentation.distortion = {settings.number("jitter"), static_cast<int>(settings.integer("randaugment")),
                             settings.number("randaugment-strength"), settings.number("cutout")};
  return augmentation;
}

std::size_t epoch_size_of(const Settings& settings, const TrainingSet& samples) {
  const auto drawn = static_cast<std::size_t>(settings.integer("epoch-batches") * settings.integer("batch-size"));
  return drawn == 0 ? samples.size() : std::min(drawn, samples.size());
}

/// Images of the training data, normalised, for a network to look at before it starts.
at::Tensor some_images(const TrainingSet& samples) {
  // A thousand small ones; patches of large ones say the same and take more memory.
  const SampleShape shape = samples.source->shape();
  const std::size_t enough = static_cast<std::size_t>(scoring_batch(shape)) * 4;
  const std::size_t count = std::min(samples.size(), enough);
  const Augmenter plain(*samples.source, samples.normalisation, PixelType::float32, 0);
  std::vector<std::byte> bytes(count * plain.output_bytes());
  Augmenter::Scratch scratch;
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* const out = &bytes[i * plain.output_bytes()];
    // One that cannot be read stays at the mean.
    plain.write(samples.positions[i * samples.size() / count], 0, std::span(&no_augmentation, 1), std::span(&out, 1),
                scratch);
  }
  return images_of(bytes, count, shape, PixelType::float32, at::kCPU).clone();
}

/// Of the images in these places of a batch, by the mean over its views.
at::Tensor mean_probabilities(const Network& network, std::span<const at::Tensor> views, const at::Tensor& places) {
  const bool all = places.size(0) == views.front().size(0);
  at::Tensor sum = at::zeros({}, places.options().dtype(at::kFloat));
  for (const at::Tensor& view : views)
    sum = sum + at::softmax(network.forward(all ? view : some_of(view, places)).logits.to(at::kFloat), 1);
  return sum / static_cast<double>(views.size());
}

}  // namespace

int loading_threads(const Settings& settings, const SampleSource& source) {
  const auto workers = static_cast<int>(settings.integer("workers"));
  if (workers > 0) return workers;
  return source.decodes() ? hardware_threads() : 1;
}

Context::Context(const Settings& settings, TrainingSet samples, at::Device device, Precision precision, int threads)
    : settings_(settings),
      samples_(std::move(samples)),
      device_(device),
      precision_(precision),
      threads_(threads),
      seed_(static_cast<std::uint64_t>(settings.integer("seed"))),
      epoch_size_(epoch_size_of(settings, samples_)),
      draws_epochs_(epoch_size_ < samples_.size()),
      labels_(at::empty({static_cast<std::int64_t>(samples_.size())}, at::kLong)),
      augmenter_(*samples_.source, samples_.normalisation, pixel_type(precision), seed_),
      augmentation_(augmentation_of(settings, samples_)),
      book_(samples_.size()),
      predicted_(samples_.size(), -1),
      predictions_(samples_.labels, samples_.classes),
      noise_rates_(static_cast<std::size_t>(settings.integer("epochs")), std::numeric_limits<float>::quiet_NaN()) {
  augmenter_.check(augmentation_);
  std::ranges::copy(samples_.labels, labels_.data_ptr<std::int64_t>());
  labels_ = labels_.to(device);
  trusted_ = at::zeros({labels_.size(0)}, at::kBool);
  for (const std::uint32_t slot : samples_.trusted) trusted_.data_ptr<bool>()[slot] = true;
  trusted_ = trusted_.to(device);
}

std::unique_ptr<Network> Context::make_network_from(std::uint32_t start) const {
  const SampleShape image = samples_.source->shape();
  const NetworkShape shape{
      image.channels, image.height, image.width, samples_.classes, static_cast<int>(settings_.integer("width")),
      image.is_vector};
  auto network = regroup::make_network(settings_.text("model"), shape, seed_, start);
  if (!shape.is_vector) network->fit_to(some_images(samples_));
  return network;
}

std::unique_ptr<Network> Context::make_network(std::uint32_t member) const {
  auto network = make_network_from(member);
  network->training = false;
  for (const Parameter& parameter : network->parameters()) parameter.tensor.requires_grad_(false);
  network->move_to(device_);
  return network;
}

std::unique_ptr<Learner> Context::make_learner(const std::string& name, std::uint32_t member) const {
  // Each network of a run has this many fresh starts of its own.
  constexpr std::uint32_t starts = 1U << 20;
  const auto make = [this, member](std::uint32_t start) { return make_network_from(member + starts * start); };
  return std::make_unique<Learner>(
      name, make, [this](Network& network) { return make_optimizer(network); },
      LearnerOptions{settings_.number("ema"), device_, precision_, settings_.number("init-rate"),
                     settings_.text("init-statistics") == "keep"});
}

std::unique_ptr<Optimizer> Context::make_optimizer(Network& network) const {
  const double momentum = settings_.number("momentum"), decay = settings_.number("weight-decay");
  if (settings_.text("optimizer") == "adam")
    return std::make_unique<Adam>(network, AdamOptions{.beta1 = momentum, .weight_decay = decay});
  return std::make_unique<Sgd>(network, SgdOptions{momentum, settings_.flag("nesterov"), decay});
}

BatchPlan Context::plan(std::span<const std::uint32_t> slots, int epoch, std::uint32_t stream) const {
  BatchPlan plan;
  plan.slots.assign(slots.begin(), slots.end());
  plan.batch_size = static_cast<int>(settings_.integer("batch-size"));
  plan.views = {augmentation_};
  plan.epoch = static_cast<std::uint32_t>(epoch);
  plan.stream = stream;
  plan.seed = seed_;
  plan.window = samples_.source->window();
  return plan;
}

std::vector<std::uint32_t> Context::epoch_slots(int epoch) const {
  if (!draws_epochs_) return all_slots();
  return epoch_subset(samples_.labels, samples_.classes, epoch_size_, settings_.flag("epoch-balance"), seed_,
                      static_cast<std::uint32_t>(epoch));
}

std::vector<std::uint32_t> Context::all_slots() const {
  std::vector<std::uint32_t> slots(samples_.size());
  std::iota(slots.begin(), slots.end(), 0U);
  return slots;
}

std::unique_ptr<Loader> Context::make_loader(BatchPlan plan, std::size_t first, std::size_t end) const {
  // Vectors in memory are read by the threads that compute: that takes less time than to hand a core over and back.
  if (settings_.integer("workers") == 0 && samples_.source->shape().is_vector && samples_.source->window() == 0 &&
      device_.is_cpu())
    return std::make_unique<Loader>(augmenter_, samples_.positions, std::move(plan), first, end, engine_threads());
  return std::make_unique<Loader>(augmenter_, samples_.positions, std::move(plan), first, end,
                                  loading_threads(settings_, *samples_.source));
}

TensorBatch Context::to_device(const Batch& batch) const {
  TensorBatch result;
  result.slots = batch.slots;
  for (const auto& view : batch.views)
    result.views.push_back(images_of(view, batch.slots.size(), samples_.source->shape(), augmenter_.type(), device_));
  result.index = index_of(batch.slots);
  result.labels = labels_.index_select(0, result.index);
  return result;
}

Context::Losses Context::losses(const at::Tensor& logits, const at::Tensor& labels) const {
  const at::Tensor plain = label_losses(logits, labels);
  const double smoothing = settings_.number("label-smoothing");
  if (smoothing == 0) return {plain, plain};
  return {plain, plain * (1 - smoothing) - at::log_softmax(logits, 1).mean(1) * smoothing};
}

at::Tensor Context::targets(const at::Tensor& labels) const { return smoothed(one_hot_rows(labels, samples_.classes)); }

at::Tensor Context::smoothed(const at::Tensor& rows) const {
  const double smoothing = settings_.number("label-smoothing");
  return smoothing == 0 ? rows : rows * (1 - smoothing) + smoothing / samples_.classes;
}

at::Tensor Context::index_of(std::span<const std::uint32_t> slots) const {
  const at::Tensor index = at::empty({static_cast<std::int64_t>(slots.size())}, at::kLong);
  std::ranges::copy(slots, index.data_ptr<std::int64_t>());
  return index.to(device_);
}

void Context::record(const TensorBatch& batch, const at::Tensor& plain_losses, const at::Tensor& logits) {
  const at::Tensor losses = plain_losses.detach().to(at::kCPU, at::kFloat).contiguous();
  book_.record(batch.slots, std::span(losses.data_ptr<float>(), batch.slots.size()));
  const at::Tensor rows = logits.detach().to(at::kCPU, at::kFloat).contiguous();
  predictions_.record(batch.slots, std::span(rows.data_ptr<float>(), static_cast<std::size_t>(rows.numel())),
                      predicted_, engine_threads());
}

void Context::record(std::span<const std::uint32_t> slots, const at::Tensor& log_probabilities) {
  TensorBatch batch;
  batch.slots.assign(slots.begin(), slots.end());
  const at::Tensor labels = at::tensor(labels_of(slots), at::kInt).to(at::kLong).unsqueeze(1);
  record(batch, -log_probabilities.gather(1, labels).squeeze(1), log_probabilities);
}

std::vector<float> Context::recorded_losses(std::span<const std::uint32_t> slots) const {
  std::vector<float> losses(samples_.size(), LossBook::unrecorded);
  for (const std::uint32_t slot : slots) losses[slot] = book_.losses()[slot];
  return losses;
}

std::vector<std::int32_t> Context::labels_of(std::span<const std::uint32_t> slots) const {
  std::vector<std::int32_t> labels;
  labels.reserve(slots.size());
  for (const std::uint32_t slot : slots) labels.push_back(samples_.labels[slot]);
  return labels;
}

ScoringOptions Context::scoring() const { return {device_, precision_, loading_threads(settings_, *samples_.source)}; }

Context::Agreement Context::agreement(const std::vector<Network*>& networks, std::span<const std::uint32_t> slots,
                                      int epoch, int views) const {
  BatchPlan plan;
  plan.slots.assign(slots.begin(), slots.end());
  plan.views.assign(static_cast<std::size_t>(views), augmentation_);
  plan.epoch = static_cast<std::uint32_t>(epoch);
  const at::Tensor labels = at::tensor(labels_of(slots), at::kInt).to(at::kLong).to(device_);
  std::vector<at::Tensor> probabilities, agrees;
  std::int64_t begin = 0;
  look_at_batches(networks, augmenter_, samples_.positions, std::move(plan), scoring(),
                  [&](std::span<const at::Tensor> batch) {
                    const std::int64_t count = batch.front().size(0);
                    const at::Tensor given = labels.slice(0, begin, begin + count);
                    at::Tensor asked = at::arange(count, labels.options());  // places in the batch
                    for (const Network* network : networks) {
                      if (asked.size(0) == 0) break;
                      const at::Tensor p = mean_probabilities(*network, batch, asked);
                      if (network == networks.front()) probabilities.push_back(p.to(at::kCPU));
                      asked = asked.masked_select(p.argmax(1) == given.index_select(0, asked));
                    }
                    agrees.push_back(at::zeros({count}, labels.options()).index_fill_(0, asked, 1));
                    begin += count;
                  });
  const at::Tensor all = at::cat(agrees).to(at::kCPU, at::kInt);
  return {at::cat(probabilities), {all.data_ptr<std::int32_t>(), all.data_ptr<std::int32_t>() + all.numel()}};
}

Scores Context::score_view(Network& network, std::span<const std::uint32_t> slots, int epoch) const {
  BatchPlan plan;
  plan.slots.assign(slots.begin(), slots.end());
  plan.views = {augmentation_};
  plan.epoch = static_cast<std::uint32_t>(epoch);
  std::vector<at::Tensor> features, logits;
  look_at_batches({&network}, augmenter_, samples_.positions, std::move(plan), scoring(),
                  [&](std::span<const at::Tensor> views) {
                    const Scores scores = network.forward(views.front());
                    // A copy: the features of a classifier alone are the batch itself, whose memory is used again.
                    features.push_back(scores.features.to(at::kCPU, at::kFloat, false, /*copy=*/true));
                    logits.push_back(scores.logits.to(at::kCPU, at::kFloat));
                  });
  return {at::cat(features), at::cat(logits)};
}

std::vector<Scores> Context::score(const std::vector<Network*>& networks, std::span<const std::uint32_t> slots,
                                   Wanted wanted) const {
  std::vector<std::uint32_t> positions;
  positions.reserve(slots.size());
  for (const std::uint32_t slot : slots) positions.push_back(samples_.positions[slot]);
  return score_plainly(networks, *samples_.source, positions, samples_.normalisation, scoring(), wanted);
}

at::Tensor Context::validation_logits(Network& network) const {
  if (samples_.validation.empty()) return {};
  return score_plainly({&network}, *samples_.source, samples_.validation, samples_.normalisation, scoring())
      .front()
      .logits;
}

std::optional<double> Context::noise_rate() const {
  return rate_of_course(noise_rates_, samples_.source->shape().is_vector ? turns_of_head : turns_of_network);
}

void Context::end_epoch(int epoch) {
  if (!predictions_.empty())
    noise_rates_[static_cast<std::size_t>(epoch)] = static_cast<float>(clear_disagreement(predictions_).rate);
}

void Context::collect(State& state) {
  state.add("losses", book_.values(), {.low = LossBook::unrecorded});
  state.add("predicted", predicted_, {-1, samples_.classes - 1.0});
  const double most_turns = std::numeric_limits<std::int32_t>::max();
  state.add("predictions.shares", predictions_.shares(), {0, 1.0001});
  state.add("predictions.names", predictions_.names(), {0, samples_.classes - 1.0});
  state.add("predictions.turns", predictions_.turn_counts(), {0, most_turns});
  state.add("predictions.losses", predictions_.losses(), {.low = 0});
  state.add("predictions.margins", predictions_.margins(), {});
  state.add("noise_rates", noise_rates_, {.low = 0, .high = 1, .may_be_unknown = true, .grows = true});
}

}  // namespace regroup
