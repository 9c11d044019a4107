#include "regroup/methods/fine_tuning.h"

#include <ATen/ATen.h>

#include <string>

#include "regroup/methods/mixing.h"

namespace regroup {
namespace {

/// Labels are B times what the network says from epoch 30 of 70 on.
constexpr double late = 30.0 / 70, own_share = 0.2;
constexpr double mix_alpha = 1;

}  // namespace

FineTuningPhase::FineTuningPhase(Context& context, Learner& learner, int first, std::span<const std::int32_t> selected)
    : Phase(context), learner_(learner), first_(first), selected_(selected) {}

void FineTuningPhase::begin_epoch(int epoch) {
  if (epoch != first_) return;
  for (const Parameter& parameter : learner_.model().parameters()) {
    if (!learner_.model().is_of_classifier(parameter.name)) continue;
    learner_.restart(parameter.name.substr(0, parameter.name.rfind('.') + 1));
    break;
  }
  learner_.optimizer().forget("");
}

std::vector<Pass> FineTuningPhase::passes(int epoch) const {
  std::vector<std::uint32_t> slots;
  for (const std::uint32_t slot : context().epoch_slots(epoch))
    if (selected_[slot] == 1) slots.push_back(slot);
  // An epoch that draws its samples anew may have drawn none of the selected ones.
  BatchPlan plan = slots.empty() ? context().plan_epoch(epoch) : context().plan(slots, epoch);
  plan.views.push_back(no_augmentation);
  return {whole(std::move(plan))};
}

double FineTuningPhase::step(const Step& step, std::span<const TensorBatch> batches) {
  const TensorBatch& batch = batches.front();
  const at::Tensor plain = learner_.forward_in_evaluation(batch.views[1]).logits;
  context().record(batch, context().losses(plain, batch.labels).plain, plain);
  at::Tensor targets = one_hot_rows(batch.labels, context().samples().classes);
  if (step.epoch - first_ >= late * (step.epochs - first_))
    targets = (1 - own_share) * targets + own_share * one_hot_rows(plain.argmax(1), targets.size(1));
  targets = smoothed(targets, context().settings().number("label-smoothing"));
  Stream random = mixing_stream(context().seed(), step);
  const MixedView mix = mix_view(batch.views[0], mix_alpha, random);
  const at::Tensor logits = learner_.forward(mix.images).logits;
  return learner_.step(soft_cross_entropy(logits, mixed(targets, mix.partners, mix.share)).mean());
}

double FineTuningPhase::rate(const Step& /*step*/) const { return context().settings().number("finetune-lr"); }

SettingInfo fine_tuning_rate(std::string_view group) {
  return {"finetune-lr", group, 1e-3, "Learning rate of the fine-tuning", 1e-12, 10};
}

}  // namespace regroup
