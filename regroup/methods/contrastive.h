#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "regroup/methods/method.h"

namespace regroup {

// Contrastive losses: embeddings of what belongs together are pulled together, others are pushed apart.

/// For each row i of `similarities`, those of an anchor with others: the mean over its positives j of
///   -log( exp(s_ij / T) / sum over k in candidates_i of exp(s_ik / T) ),
/// and 0 where it has no positives. `positives` and `candidates` are 1 or 0.
at::Tensor contrastive_losses(const at::Tensor& similarities, const at::Tensor& positives, const at::Tensor& candidates,
                              double temperature);

/// 1 for every pair of rows but a row with itself.
at::Tensor others_mask(std::int64_t rows, const at::Tensor& like);

/// The same for anchors that are mixtures (Ortego et al., CVPR 2021): the loss by the positives of what each is mostly
/// made of, and by those of its partner, weighted by their shares.
at::Tensor interpolated_losses(const at::Tensor& similarities, const at::Tensor& positives,
                               const at::Tensor& positives_of_partner, const at::Tensor& candidates,
                               const at::Tensor& shares, double temperature);

/// SimCLR (Chen et al., ICML 2020): two unit embeddings of each image, view by view; the positive of one is the other.
at::Tensor simclr_loss(const at::Tensor& first, const at::Tensor& second, double temperature);

/// Embeddings of the last steps with the samples that they are of; the oldest are overwritten.
class EmbeddingMemory {
 public:
  EmbeddingMemory(std::int64_t size, std::int64_t width, at::Device device);

  /// A row for each slot.
  void push(const at::Tensor& rows, const at::Tensor& slots);

  /// A copy: gradients need what a loss was computed with when more has been pushed.
  at::Tensor rows() const { return rows_.slice(0, 0, filled_).clone(); }
  at::Tensor slots() const { return slots_.slice(0, 0, filled_).clone(); }  ///< as long integers

  /// `prefix` begins the names; a run has so many samples.
  void collect(State& state, const std::string& prefix, std::size_t samples);

 private:
  at::Tensor rows_, slots_;
  std::int64_t next_ = 0, filled_ = 0;
};

/// The slots of a batch on its device.
at::Tensor slots_of(const TensorBatch& batch);

/// Two views of each image for contrastive learning: parts of random size where images have colours, and colour jitter
/// of this strength. Random grey, which the papers have too, is left out.
std::vector<Augmentation> contrastive_views(Augmentation view, bool has_colours, double jitter);

}  // namespace regroup
