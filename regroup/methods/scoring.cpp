#include "regroup/methods/scoring.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace regroup {
namespace {

/// Networks are in evaluation as long as this lives.
class InEvaluation {
 public:
  explicit InEvaluation(const std::vector<Network*>& networks) : networks_(networks) {
    for (Network* network : networks_) were_training_.push_back(std::exchange(network->training, false));
  }
  ~InEvaluation() {
    for (std::size_t i = 0; i < networks_.size(); ++i) networks_[i]->training = were_training_[i];
  }
  InEvaluation(const InEvaluation&) = delete;
  InEvaluation& operator=(const InEvaluation&) = delete;

 private:
  const std::vector<Network*>& networks_;
  std::vector<bool> were_training_;
};

Scores scored(const Network& network, const at::Tensor& x, bool mirror) {
  const Scores scores = network.forward(x);
  if (!mirror) return scores;
  const Scores other = network.forward(x.flip({3}));
  return {(scores.features + other.features) / 2, (scores.logits + other.logits) / 2};
}

}  // namespace

PixelType pixel_type(Precision precision) {
  return precision == Precision::bf16 ? PixelType::bfloat16 : PixelType::float32;
}

at::Tensor images_of(const std::vector<std::byte>& bytes, std::size_t count, SampleShape shape, PixelType type,
                     at::Device device) {
  const std::int64_t c = shape.channels, h = shape.height, w = shape.width;
  const auto dtype = type == PixelType::bfloat16 ? at::kBFloat16 : at::kFloat;
  // The engine's interface knows no constant memory; nothing writes to its input.
  auto* const memory = const_cast<std::byte*>(bytes.data());
  return at::from_blob(memory, {static_cast<std::int64_t>(count), c, h, w}, {h * w * c, 1, w * c, c}, dtype).to(device);
}

int scoring_batch(SampleShape shape) {
  constexpr int most = 250, least = 8, small_image = 48 * 48, vectors = 2048;
  if (shape.is_vector) return vectors;
  return std::clamp(most * small_image / (shape.height * shape.width), least, most);
}

void look_at_batches(const std::vector<Network*>& networks, const Augmenter& augmenter,
                     std::span<const std::uint32_t> positions, BatchPlan plan, const ScoringOptions& options,
                     const std::function<void(std::span<const at::Tensor> views)>& look) {
  const at::NoGradGuard no_grad;
  const InEvaluation evaluation(networks);
  const PrecisionScope scope(options.precision, options.device);
  const SampleShape shape = augmenter.images().shape();
  plan.batch_size = scoring_batch(shape);
  plan.shuffle = false;
  const std::size_t batches = plan.batches();
  Loader loader(augmenter, positions, std::move(plan), 0, batches, options.workers);
  while (const Batch* batch = loader.next()) {
    std::vector<at::Tensor> views;
    for (const auto& view : batch->views)
      views.push_back(images_of(view, batch->slots.size(), shape, augmenter.type(), options.device));
    look(views);
  }
}

at::Tensor some_of(const at::Tensor& images, const at::Tensor& places) {
  // By rows of memory: the layout, channels last, stays.
  return images.permute({0, 2, 3, 1}).index_select(0, places).permute({0, 3, 1, 2});
}

std::vector<Scores> score_plainly(const std::vector<Network*>& networks, const SampleSource& images,
                                  std::span<const std::uint32_t> positions, const Normalisation& normalisation,
                                  const ScoringOptions& options, Wanted wanted) {
  // What is said about vectors is exact.
  const auto type = images.shape().is_vector ? PixelType::float32 : pixel_type(options.precision);
  const Augmenter plain(images, normalisation, type, 0);
  BatchPlan plan;
  plan.slots.resize(positions.size());
  std::iota(plan.slots.begin(), plan.slots.end(), 0U);
  std::vector<std::vector<at::Tensor>> features(networks.size()), logits(networks.size());
  look_at_batches(networks, plain, positions, std::move(plan), options, [&](std::span<const at::Tensor> views) {
    for (std::size_t i = 0; i < networks.size(); ++i) {
      const Scores scores = scored(*networks[i], views.front(), options.mirror);
      // A copy: the features of a classifier alone are the batch itself, whose memory is used again.
      if (wanted == Wanted::features_too)
        features[i].push_back(scores.features.to(at::kCPU, at::kFloat, false, /*copy=*/true));
      logits[i].push_back(scores.logits.to(at::kCPU));
    }
  });
  std::vector<Scores> result;
  for (std::size_t i = 0; i < networks.size(); ++i)
    result.push_back({features[i].empty() ? at::Tensor() : at::cat(features[i]), at::cat(logits[i])});
  return result;
}

}  // namespace regroup
