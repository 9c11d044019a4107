#include "regroup/methods/twins.h"

#include <ATen/ATen.h>

#include <utility>

namespace regroup {

std::vector<Pass> TwinWarmUp::passes(int epoch) const {
  std::vector<Pass> passes;
  for (std::uint32_t network = 0; network < 2; ++network) {
    BatchPlan plan = context().plan_epoch(epoch);
    plan.stream = network;
    passes.push_back(whole(std::move(plan)));
  }
  return passes;
}

double TwinWarmUp::step(const Step& step, std::span<const TensorBatch> batches) {
  const TensorBatch& batch = batches.front();
  Learner& learner = twins_[step.pass];
  const at::Tensor logits = learner.forward(batch.views.front()).logits;
  const auto losses = context().losses(logits, batch.labels);
  if (step.pass == 0) context().record(batch, losses.plain, logits);
  at::Tensor loss = losses.trained.mean();
  if (confidence_penalty_) loss = loss + (at::softmax(logits, 1) * at::log_softmax(logits, 1)).sum(1).mean();
  return learner.step(loss);
}

}  // namespace regroup
