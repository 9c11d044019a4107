#include "regroup/methods/method.h"

#include "regroup/methods/schedule.h"

namespace regroup {

void Method::set_rate(const Progress& progress) {
  const double rate = learning_rate(context_.settings(), progress.share());
  for (Learner* learner : learners()) learner->rate = rate;
}

std::vector<std::pair<std::string, Network*>> Method::networks() {
  std::vector<std::pair<std::string, Network*>> networks;
  for (Learner* learner : learners()) {
    const std::string& name = learner->name();
    networks.emplace_back(name, &learner->model());
    if (learner->momentum_model() != nullptr)
      networks.emplace_back(name == "model" ? "ema" : name + "-ema", learner->momentum_model());
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

}  // namespace regroup
