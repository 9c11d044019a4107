#include "regroup/methods/method.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "regroup/methods/schedule.h"

namespace regroup {

Pass Phase::whole(BatchPlan plan) {
  const std::size_t steps = plan.batches();
  Pass pass;
  pass.plans.push_back(std::move(plan));
  pass.steps = steps;
  return pass;
}

std::vector<Pass> Phase::passes(int epoch) const { return {whole(context_.plan_epoch(epoch))}; }

double Phase::rate(const Step& step) const {
  const int epochs = schedule_epochs > 0 ? schedule_epochs : std::max(1, step.epochs - schedule_begin);
  return learning_rate(context_.settings(), std::clamp((step.time() - schedule_begin) / epochs, 0.0, 1.0));
}

double Method::step(const Step& /*step*/, std::span<const TensorBatch> /*batches*/) {
  throw std::logic_error("this method takes its steps in phases");
}

std::vector<std::pair<std::string, Network*>> Method::networks() {
  std::vector<std::pair<std::string, Network*>> networks;
  for (Learner* learner : learners()) {
    const std::string& name = learner->name();
    networks.emplace_back(name, &learner->model());
    if (learner->ema() != nullptr) networks.emplace_back(name == "model" ? "ema" : name + "-ema", learner->ema());
  }
  return networks;
}

std::vector<Predictor> Method::predictors() {
  std::vector<Predictor> predictors;
  for (const auto& [name, network] : networks()) predictors.push_back({name, {network}});
  return predictors;
}

void Method::collect(State& state) {
  for (Learner* learner : learners()) learner->collect(state);
}

void Method::restored() {
  for (Learner* learner : learners()) learner->restored();
}

}  // namespace regroup
