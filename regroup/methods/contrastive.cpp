#include "regroup/methods/contrastive.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace regroup {

at::Tensor contrastive_losses(const at::Tensor& similarities, const at::Tensor& positives, const at::Tensor& candidates,
                              double temperature) {
  constexpr double nothing = -1e9;
  const at::Tensor logits = similarities / temperature;
  const at::Tensor sums = at::logsumexp(logits + (1 - candidates) * nothing, {1}, /*keepdim=*/true);
  return -((logits - sums) * positives).sum(1) / positives.sum(1).clamp_min(1);
}

at::Tensor others_mask(std::int64_t rows, const at::Tensor& like) {
  return 1 - at::eye(rows, like.options().dtype(at::kFloat).requires_grad(false));
}

at::Tensor interpolated_losses(const at::Tensor& similarities, const at::Tensor& positives,
                               const at::Tensor& positives_of_partner, const at::Tensor& candidates,
                               const at::Tensor& shares, double temperature) {
  return shares * contrastive_losses(similarities, positives, candidates, temperature) +
         (1 - shares) * contrastive_losses(similarities, positives_of_partner, candidates, temperature);
}

at::Tensor simclr_loss(const at::Tensor& first, const at::Tensor& second, double temperature) {
  const at::Tensor all = at::cat({first, second});
  const std::int64_t rows = first.size(0);
  const at::Tensor others = others_mask(2 * rows, all);
  const at::Tensor positives = others - others_mask(rows, all).repeat({2, 2});
  return contrastive_losses(at::matmul(all, all.t()), positives, others, temperature).mean();
}

EmbeddingMemory::EmbeddingMemory(std::int64_t size, std::int64_t width, at::Device device)
    : rows_(at::zeros({size, width}, at::TensorOptions(device).dtype(at::kFloat))),
      slots_(at::zeros({size}, at::TensorOptions(device).dtype(at::kLong))) {}

void EmbeddingMemory::push(const at::Tensor& rows, const at::Tensor& slots) {
  const at::NoGradGuard no_grad;
  const std::int64_t size = rows_.size(0), count = std::min(size, rows.size(0));
  const at::Tensor places = (at::arange(count, slots_.options()) + next_).remainder(size);
  rows_.index_copy_(0, places, rows.detach().slice(0, 0, count).to(at::kFloat));
  slots_.index_copy_(0, places, slots.slice(0, 0, count));
  next_ = (next_ + count) % size;
  filled_ = std::min(size, filled_ + count);
}

void EmbeddingMemory::collect(State& state, const std::string& prefix, std::size_t samples) {
  const auto size = static_cast<double>(rows_.size(0));
  state.add(prefix + "rows", rows_);
  state.add(prefix + "slots", slots_, {0, static_cast<double>(samples) - 1});
  state.add(prefix + "next", next_, {0, size - 1});
  state.add(prefix + "filled", filled_, {0, size});
}

at::Tensor slots_of(const TensorBatch& batch) {
  const std::vector<std::int64_t> slots(batch.slots.begin(), batch.slots.end());
  return at::tensor(slots, at::kLong).to(batch.labels.device());
}

std::vector<Augmentation> contrastive_views(Augmentation view, bool has_colours, double jitter) {
  if (has_colours) view.crop = Crop::resized;
  view.distortion.jitter = jitter;
  return {view, view};
}

}  // namespace regroup
