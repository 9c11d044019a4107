#include "regroup/methods/ce_start.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "regroup/core/error.h"
#include "regroup/nn/weights.h"

namespace regroup {

CeStart::CeStart(Context& context, Learner& learner, int epochs, Best best)
    : Phase(context),
      learner_(learner),
      epochs_(context.settings().text("ce-weights").empty() ? epochs : 0),
      by_(best),
      best_(context.make_network(), "ce") {
  schedule_epochs = epochs_;
}

void CeStart::begin_run(int epoch) {
  const std::string& file = context().settings().text("ce-weights");
  if (epoch > 0 || file.empty()) return;
  const Fit fit = load_fitting_tensors(file, tensors_of(best_.network()));
  if (!fit.missing.empty() || !fit.misfits.empty())
    throw UserError(
        fmt::format("ce-weights: {} is of another network, '{}' does not fit; give the model and the width "
                    "of the run that made it",
                    file, fit.missing.empty() ? fit.misfits.front().name : fit.missing.front()));
}

double CeStart::step(const Step& /*step*/, std::span<const TensorBatch> batches) {
  const TensorBatch& batch = batches.front();
  const at::Tensor logits = learner_.forward(batch.views.front()).logits;
  const auto losses = context().losses(logits, batch.labels);
  context().record(batch, losses.plain, logits);
  return learner_.step(losses.trained.mean());
}

void CeStart::end_epoch(int /*epoch*/) {
  const at::Tensor logits = context().validation_logits(learner_.model());
  const auto& labels = context().samples().validation_labels;
  if (!logits.defined()) {
    best_.keep(learner_.model());
  } else if (by_ == Best::lowest_loss) {
    best_.offer(learner_.model(), minus_mean_loss(at::log_softmax(logits, 1), labels));
  } else {
    best_.offer(learner_.model(), share_right(logits, labels));
  }
}

std::vector<SettingInfo> ce_start_settings() {
  constexpr std::string_view group = "Start from cross-entropy";
  return {{"ce-epochs", group, std::int64_t{0},
           "Epochs of cross-entropy at the beginning, whose best by the validation samples is what the method starts "
           "from; 0: as large a share of the run as in the paper",
           0, 1e6},
          {"ce-weights", group, std::string(),
           "Safetensors file of a network that cross-entropy has trained on the same data already, instead of these "
           "epochs"}};
}

}  // namespace regroup
