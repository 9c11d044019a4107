#pragma once

#include <functional>
#include <span>
#include <vector>

#include "regroup/data/loader.h"
#include "regroup/nn/network.h"
#include "regroup/nn/precision.h"

namespace regroup {

/// Where and how networks look at samples.
struct ScoringOptions {
  at::Device device = at::kCPU;
  Precision precision = Precision::fp32;
  int workers = 1;      ///< threads that prepare batches
  bool mirror = false;  ///< scores are the mean over an image and its mirror image
};

/// What batches are written in for a precision.
PixelType pixel_type(Precision precision);

/// One view of a batch, which stays where it is: a view of its memory, or a copy on another device.
at::Tensor images_of(const std::vector<std::byte>& bytes, std::size_t count, SampleShape shape, PixelType type,
                     at::Device device);

/// Samples that are scored at a time: fewer large images, so that what the layers make of them takes the same memory.
int scoring_batch(SampleShape shape);

/// The one loop over samples that takes no steps. The samples of `plan` come in its order and in batches of
/// scoring_batch(); `look` is handed the views of one batch, while the networks are in evaluation, without gradients,
/// in the precision of the run. The images are gone after the call.
void look_at_batches(const std::vector<Network*>& networks, const Augmenter& augmenter,
                     std::span<const std::uint32_t> positions, BatchPlan plan, const ScoringOptions& options,
                     const std::function<void(std::span<const at::Tensor> views)>& look);

/// Some images of a batch, by their places in it.
at::Tensor some_of(const at::Tensor& images, const at::Tensor& places);

/// The scores of samples without augmentation, on the CPU, per network. Features take much memory, so that only those
/// who want them get them.
enum class Wanted { logits, features_too };
std::vector<Scores> score_plainly(const std::vector<Network*>& networks, const SampleSource& images,
                                  std::span<const std::uint32_t> positions, const Normalisation& normalisation,
                                  const ScoringOptions& options, Wanted wanted = Wanted::logits);

}  // namespace regroup
