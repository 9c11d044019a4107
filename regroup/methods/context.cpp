#include "regroup/methods/context.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace regroup {
namespace {

Augmentation augmentation_of(const Settings& settings, const TrainingSet& samples) {
  Augmentation augmentation;
  augmentation.shift = static_cast<int>(settings.integer("shift"));
  augmentation.padding = settings.text("padding") == "reflect" ? Padding::reflect : Padding::zero;
  const std::string& flip = settings.text("flip");
  const bool sensible = flip != "auto" || samples.mirrored_is_same;
  augmentation.flip = !sensible || flip == "none" ? Flip::none : flip == "alternate" ? Flip::alternate : Flip::random;
  return augmentation;
}

PixelType pixel_type(Precision precision) {
  return precision == Precision::bf16 ? PixelType::bfloat16 : PixelType::float32;
}

/// The images of a batch, which stay where they are: a view of its memory, or a copy on another device.
at::Tensor images_of(const std::vector<std::byte>& bytes, std::size_t count, const ImageSet& images, PixelType type,
                     at::Device device) {
  const std::int64_t c = images.channels, h = images.height, w = images.width;
  const auto dtype = type == PixelType::bfloat16 ? at::kBFloat16 : at::kFloat;
  // The engine's interface knows no constant memory; nothing writes to its input.
  auto* const memory = const_cast<std::byte*>(bytes.data());
  return at::from_blob(memory, {static_cast<std::int64_t>(count), c, h, w}, {h * w * c, 1, w * c, c}, dtype).to(device);
}

/// Images that are scored at a time: fewer of large ones, so that what the layers make of them takes the same memory.
int scoring_batch(const ImageSet& images) {
  constexpr int most = 250, least = 8, small_image = 48 * 48;
  return std::clamp(most * small_image / (images.height * images.width), least, most);
}

/// Images of the training data, normalised, for a network to look at before it starts.
at::Tensor some_images(const TrainingSet& samples) {
  // A thousand small ones; patches of large ones say the same and take more memory.
  const std::size_t enough = static_cast<std::size_t>(scoring_batch(*samples.images)) * 4;
  const std::size_t count = std::min(samples.size(), enough);
  const Augmenter plain(*samples.images, samples.normalisation, no_augmentation, PixelType::float32, 0);
  std::vector<std::byte> bytes(count * plain.output_bytes());
  for (std::size_t slot = 0; slot < count; ++slot)
    plain.write(samples.positions[slot * samples.size() / count], 0, 0, &bytes[slot * plain.output_bytes()]);
  return images_of(bytes, count, *samples.images, PixelType::float32, at::kCPU).clone();
}

}  // namespace

Context::Context(const Settings& settings, TrainingSet samples, at::Device device, Precision precision, int threads)
    : settings_(settings),
      samples_(std::move(samples)),
      device_(device),
      precision_(precision),
      threads_(threads),
      seed_(static_cast<std::uint64_t>(settings.integer("seed"))),
      slot_of_(static_cast<std::size_t>(samples_.images->count)),
      labels_(at::empty({static_cast<std::int64_t>(samples_.size())}, at::kLong)),
      augmenter_(*samples_.images, samples_.normalisation, augmentation_of(settings, samples_), pixel_type(precision),
                 seed_),
      book_(samples_.size()),
      predicted_(samples_.size(), -1) {
  for (std::size_t slot = 0; slot < samples_.size(); ++slot) {
    slot_of_[samples_.positions[slot]] = static_cast<std::uint32_t>(slot);
    labels_.data_ptr<std::int64_t>()[slot] = samples_.labels[slot];
  }
  labels_ = labels_.to(device);
}

std::unique_ptr<Learner> Context::make_learner(const std::string& name, std::uint32_t member) const {
  const NetworkShape shape{samples_.images->channels, samples_.images->height, samples_.images->width, samples_.classes,
                           static_cast<int>(settings_.integer("width"))};
  LearnerOptions options;
  options.sgd = {settings_.number("momentum"), settings_.flag("nesterov"), settings_.number("weight-decay")};
  options.momentum_model = settings_.number("ema");
  options.device = device_;
  options.precision = precision_;
  auto model = make_network(settings_.text("model"), shape, seed_, member);
  model->fit_to(some_images(samples_));
  return std::make_unique<Learner>(name, std::move(model), make_network(settings_.text("model"), shape, seed_, member),
                                   options);
}

BatchPlan Context::plan(std::span<const std::uint32_t> slots, int epoch, std::uint32_t stream) const {
  BatchPlan plan;
  plan.samples.reserve(slots.size());
  for (const std::uint32_t slot : slots) plan.samples.push_back(samples_.positions[slot]);
  plan.batch_size = static_cast<int>(settings_.integer("batch-size"));
  plan.epoch = static_cast<std::uint32_t>(epoch);
  plan.stream = stream;
  plan.seed = seed_;
  return plan;
}

BatchPlan Context::plan_all(int epoch) const {
  std::vector<std::uint32_t> slots(samples_.size());
  std::iota(slots.begin(), slots.end(), 0U);
  return plan(slots, epoch);
}

TensorBatch Context::to_device(const Batch& batch) const {
  TensorBatch result;
  const auto count = static_cast<std::int64_t>(batch.samples.size());
  const at::Tensor slots = at::empty({count}, at::kLong);
  for (std::size_t i = 0; i < batch.samples.size(); ++i) {
    result.slots.push_back(slot_of_[batch.samples[i]]);
    slots.data_ptr<std::int64_t>()[i] = result.slots.back();
  }
  for (const auto& view : batch.views)
    result.views.push_back(images_of(view, batch.samples.size(), *samples_.images, pixel_type(precision_), device_));
  result.labels = labels_.index_select(0, slots.to(device_));
  return result;
}

Context::Losses Context::losses(const at::Tensor& logits, const at::Tensor& labels) const {
  const at::Tensor log_probabilities = at::log_softmax(logits, 1);
  const at::Tensor plain = -log_probabilities.gather(1, labels.unsqueeze(1)).squeeze(1);
  const double smoothing = settings_.number("label-smoothing");
  if (smoothing == 0) return {plain, plain};
  return {plain, plain * (1 - smoothing) - log_probabilities.mean(1) * smoothing};
}

void Context::record(const TensorBatch& batch, const at::Tensor& plain_losses, const at::Tensor& logits) {
  const at::Tensor losses = plain_losses.detach().to(at::kCPU, at::kFloat).contiguous();
  book_.record(batch.slots, std::span(losses.data_ptr<float>(), batch.slots.size()));
  const at::Tensor labels = logits.detach().argmax(1).to(at::kCPU).contiguous();
  for (std::size_t i = 0; i < batch.slots.size(); ++i)
    predicted_[batch.slots[i]] = static_cast<std::int32_t>(labels.data_ptr<std::int64_t>()[i]);
}

void Context::record_all(const at::Tensor& log_probabilities) {
  TensorBatch all;
  all.slots.resize(samples_.size());
  std::iota(all.slots.begin(), all.slots.end(), 0U);
  const at::Tensor losses = -log_probabilities.gather(1, labels_.to(at::kCPU).unsqueeze(1)).squeeze(1);
  record(all, losses, log_probabilities);
}

std::vector<at::Tensor> Context::view_probabilities(const std::vector<Network*>& networks, int epoch, int views) const {
  at::NoGradGuard no_grad;
  std::vector<bool> were_training;
  for (Network* network : networks) were_training.push_back(std::exchange(network->training, false));
  BatchPlan plan;
  plan.samples.assign(samples_.positions.begin(), samples_.positions.end());
  plan.batch_size = scoring_batch(*samples_.images);
  plan.views = views;
  plan.shuffle = false;
  plan.epoch = static_cast<std::uint32_t>(epoch);
  const std::size_t batches = plan.batches();
  Loader loader(augmenter_, std::move(plan), 0, batches);
  std::vector<std::vector<at::Tensor>> parts(networks.size());
  const PrecisionScope scope(precision_, device_);
  while (const Batch* batch = loader.next()) {
    std::vector<at::Tensor> sums(networks.size());
    for (const auto& view : batch->views) {
      const at::Tensor x = images_of(view, batch->samples.size(), *samples_.images, pixel_type(precision_), device_);
      for (std::size_t i = 0; i < networks.size(); ++i) {
        const at::Tensor p = at::softmax(networks[i]->forward(x).logits.to(at::kFloat), 1);
        sums[i] = sums[i].defined() ? sums[i] + p : p;
      }
    }
    for (std::size_t i = 0; i < networks.size(); ++i) parts[i].push_back((sums[i] / views).to(at::kCPU));
  }
  std::vector<at::Tensor> result;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    networks[i]->training = were_training[i];
    result.push_back(at::cat(parts[i]));
  }
  return result;
}

at::Tensor Context::score(Network& network) const {
  return score_images(network, *samples_.images, samples_.positions, samples_.normalisation, false, device_,
                      precision_);
}

void Context::collect(State& state) {
  state.add("losses", book_.values(), {.low = LossBook::unrecorded});
  state.add("predicted", predicted_, {-1, samples_.classes - 1.0});
}

at::Tensor score_images(Network& network, const ImageSet& images, std::span<const std::uint32_t> positions,
                        const Normalisation& normalisation, bool mirror, at::Device device, Precision precision) {
  at::NoGradGuard no_grad;
  const bool was_training = std::exchange(network.training, false);
  const Augmenter plain(images, normalisation, no_augmentation, pixel_type(precision), 0);
  BatchPlan plan;
  plan.samples.assign(positions.begin(), positions.end());
  plan.batch_size = scoring_batch(images);
  plan.shuffle = false;
  const std::size_t batches = plan.batches();
  Loader loader(plain, std::move(plan), 0, batches);
  std::vector<at::Tensor> parts;
  const PrecisionScope scope(precision, device);
  while (const Batch* batch = loader.next()) {
    const at::Tensor x = images_of(batch->views[0], batch->samples.size(), images, pixel_type(precision), device);
    at::Tensor logits = network.forward(x).logits;
    if (mirror) logits = (logits + network.forward(x.flip({3})).logits) / 2;
    parts.push_back(logits.to(at::kCPU));
  }
  network.training = was_training;
  return at::cat(parts);
}

}  // namespace regroup
