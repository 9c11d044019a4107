#include "regroup/methods/refinement.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "regroup/nn/adam.h"

namespace regroup {

double EarlyPhase::step(const Step& /*step*/, std::span<const TensorBatch> batches) {
  const TensorBatch& batch = batches.front();
  const at::Tensor logits = learner_.forward(batch.views.front()).logits;
  const auto losses = context().losses(logits, batch.labels);
  context().record(batch, losses.plain, logits);
  return learner_.step(losses.trained.mean());
}

RefinementPhase::RefinementPhase(Context& context, Learner& learner, std::vector<Turn> turns)
    : EarlyPhase(context, learner), turns_(std::move(turns)) {
  learner.add_optimizer("refinement", [](Network& network) { return std::make_unique<Adam>(network, AdamOptions{}); });
}

std::vector<Pass> RefinementPhase::passes(int epoch) const {
  std::vector<Pass> passes;
  for (const Turn& turn : turns_) {
    for (int i = 0; i < turn.passes; ++i) {
      BatchPlan plan = context().plan_epoch(epoch);
      plan.stream = static_cast<std::uint32_t>(passes.size()) % 256;
      passes.push_back(whole(std::move(plan)));
    }
  }
  return passes;
}

void RefinementPhase::begin_pass(const Step& first) {
  const auto parts = parts_of(learner_.model());
  std::size_t begin = 0;
  for (const Turn& turn : turns_) {
    if (first.pass == begin) {
      learner_.use("refinement");
      learner_.optimizer().forget("");
      learner_.freeze("");
      for (std::size_t i = parts.size() - std::min(parts.size(), turn.last_parts); i < parts.size(); ++i) {
        for (const std::string& name : parts[i]) {
          learner_.restart(name + ".");
          learner_.freeze(name + ".", false);
        }
      }
    }
    begin += static_cast<std::size_t>(turn.passes);
  }
}

double RefinementPhase::rate(const Step& /*step*/) const { return context().settings().number("refine-lr"); }

std::vector<std::vector<std::string>> parts_of(const Network& network) {
  std::vector<std::vector<std::string>> parts;
  for (const Parameter& parameter : network.parameters()) {
    const std::string name = parameter.name.substr(0, parameter.name.find('.'));
    if (!parts.empty() && parts.back().back() == name) continue;
    if (parts.empty() || !name.starts_with("bn")) parts.emplace_back();
    parts.back().push_back(name);
  }
  return parts;
}

}  // namespace regroup
