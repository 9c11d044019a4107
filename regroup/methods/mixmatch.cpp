#include "regroup/methods/mixmatch.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "regroup/methods/mixing.h"

namespace regroup {

void mark_agreeing(std::span<const std::int32_t> agrees, std::span<const std::uint32_t> slots, const Context& context,
                   std::span<std::int32_t> labelled) {
  std::fill(labelled.begin(), labelled.end(), -1);
  for (std::size_t i = 0; i < slots.size(); ++i) labelled[slots[i]] = agrees[i];
  for (const std::uint32_t slot : context.samples().trusted)
    if (labelled[slot] == 0) labelled[slot] = 1;
}

BatchShare share_batch(int batch_size, std::size_t labelled, std::size_t unlabelled) {
  if (labelled == 0) return {0, batch_size};
  if (unlabelled == 0) return {batch_size, 0};
  if (unlabelled > labelled) return {batch_size - batch_size / 2, batch_size / 2};
  const double share = static_cast<double>(unlabelled) / static_cast<double>(labelled + unlabelled);
  const int part = std::clamp(static_cast<int>(std::lround(share * batch_size)), 1, batch_size - 1);
  return {batch_size - part, part};
}

std::vector<BatchPlan> split_plans(const Context& context, std::span<const std::int32_t> labelled, BatchShare share,
                                   int epoch, std::uint32_t stream) {
  constexpr int views = 2;
  std::vector<std::uint32_t> slots[2];  // labelled, unlabelled
  for (std::size_t slot = 0; slot < labelled.size(); ++slot)
    if (labelled[slot] >= 0) slots[labelled[slot] == 1 ? 0 : 1].push_back(static_cast<std::uint32_t>(slot));
  const int sizes[2] = {share.labelled, share.unlabelled};
  std::vector<BatchPlan> plans;
  for (std::uint32_t set = 0; set < 2; ++set) {
    if (slots[set].empty()) continue;
    plans.push_back(context.plan(slots[set], epoch, 2 * stream + 1 + set));
    plans.back().batch_size = sizes[set];
    plans.back().views.resize(views, plans.back().views.front());
  }
  return plans;
}

at::Tensor sharpened(const at::Tensor& probabilities, double temperature) {
  const at::Tensor powers = probabilities.pow(1 / temperature);
  return powers / powers.sum(1, /*keepdim=*/true);
}

at::Tensor mean_of(std::span<const at::Tensor> predictions) {
  at::Tensor sum = predictions.front();
  for (const at::Tensor& prediction : predictions.subspan(1)) sum = sum + prediction;
  return sum / static_cast<double>(predictions.size());
}

at::Tensor view_mean(Learner& learner, const TensorBatch& batch) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> predicted;
  for (const at::Tensor& view : batch.views)
    predicted.push_back(at::softmax(learner.forward(view).logits.to(at::kFloat), 1));
  return mean_of(predicted);
}

at::Tensor view_mean_in_evaluation(Learner& learner, const TensorBatch& batch) {
  std::vector<at::Tensor> predicted;
  for (const at::Tensor& view : batch.views)
    predicted.push_back(at::softmax(learner.forward_in_evaluation(view).logits.to(at::kFloat), 1));
  return mean_of(predicted);
}

double ramp(double time, double start, double length) {
  return length > 0 ? std::clamp((time - start) / length, 0.0, 1.0) : time >= start ? 1.0 : 0.0;
}

std::vector<float> class_weights(std::span<const std::int32_t> labels, std::span<const std::int32_t> labelled,
                                 int classes, float most) {
  std::vector<float> counts(static_cast<std::size_t>(classes));
  float all = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labelled[i] != 1) continue;
    ++counts[static_cast<std::size_t>(labels[i])];
    ++all;
  }
  std::vector<float> weights(counts.size());
  for (std::size_t c = 0; c < counts.size(); ++c)
    if (counts[c] > 0) weights[c] = std::min(most, all / static_cast<float>(classes) / counts[c]);
  return weights;
}

MixedBatch mix_sets(const TensorBatch& labelled, const at::Tensor& labelled_targets, const TensorBatch* unlabelled,
                    const at::Tensor& guessed_targets, double alpha, Stream& random) {
  std::vector<at::Tensor> images = labelled.views;
  std::vector<at::Tensor> targets(labelled.views.size(), labelled_targets);
  if (unlabelled != nullptr) {
    images.insert(images.end(), unlabelled->views.begin(), unlabelled->views.end());
    targets.insert(targets.end(), unlabelled->views.size(), guessed_targets);
  }
  const double lambda = symmetric_beta(random, alpha), share = std::max(lambda, 1 - lambda);
  const at::Tensor x = at::cat(images), t = at::cat(targets);
  const at::Tensor partners = at::tensor(permutation(random, x.size(0)), at::kLong).to(x.device());
  return {mixed(x, partners, share), mixed(t, partners, share),
          static_cast<std::int64_t>(labelled.views.size()) * labelled.labels.size(0)};
}

MixMatchLosses mixmatch_losses(const at::Tensor& logits, const MixedBatch& batch, const at::Tensor& class_weights) {
  const std::int64_t first = batch.labelled_rows;
  const at::Tensor& target = batch.targets;
  MixMatchLosses losses;
  losses.labelled = soft_cross_entropy(logits.slice(0, 0, first), target.slice(0, 0, first), class_weights).mean();
  if (logits.size(0) > first)
    losses.unlabelled = (at::softmax(logits.slice(0, first), 1) - target.slice(0, first)).square().mean();
  return losses;
}

void MixMatchTotal::begin_epoch() { std::fill(sums_.begin(), sums_.end(), 0.0F); }

at::Tensor MixMatchTotal::of(const MixMatchLosses& losses, double weight, double ramp) {
  sums_[0] += losses.labelled.item<float>();
  ++sums_[2];
  sums_[3] = static_cast<float>(ramp);
  if (!losses.unlabelled.defined()) return losses.labelled;
  sums_[1] += losses.unlabelled.item<float>();
  return losses.labelled + weight * ramp * losses.unlabelled;
}

std::vector<Metric> MixMatchTotal::metrics(std::size_t labelled) const {
  const auto mean = [&](float sum) {
    return sums_[2] > 0 ? static_cast<double>(sum / sums_[2]) : std::numeric_limits<double>::quiet_NaN();
  };
  return {{"labelled", sums_[2] > 0 ? static_cast<double>(labelled) : mean(0)},
          {"loss_labelled", mean(sums_[0])},
          {"loss_unlabelled", mean(sums_[1])},
          {"ramp", static_cast<double>(sums_[3])}};
}

void MixMatchTotal::collect(State& state) { state.add("semi_losses", sums_, {.low = 0}); }

at::Tensor uniform_prior_penalty(const at::Tensor& logits) {
  const auto classes = static_cast<double>(logits.size(1));
  return -(at::softmax(logits, 1).mean(0) * classes).log().mean();
}

}  // namespace regroup
