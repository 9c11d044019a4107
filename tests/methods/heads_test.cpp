#include "regroup/methods/heads.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "regroup/nn/sgd.h"

namespace regroup {
namespace {

Learner learner_of(const std::string& model) {
  const auto make = [model](std::uint32_t start) { return make_network(model, {3, 32, 32, 10, 8}, 1, start); };
  const auto sgd = [](Network& network) { return std::make_unique<Sgd>(network, SgdOptions{}); };
  return Learner("model", make, sgd, {});
}

TEST(Heads, TheFeaturesAreWhatTheClassifierSees) {
  for (const NetworkInfo& info : networks()) {
    if (info.takes_vectors()) continue;
    Learner learner = learner_of(std::string(info.name));
    const Scores scores = learner.forward_in_evaluation(at::ones({2, 3, 32, 32}));
    EXPECT_EQ(feature_size(learner.model()), scores.features.size(1)) << info.name;
    EXPECT_NEAR(classifier_scale(learner, {3, 32, 32}), info.name == "fast" ? 1.0 / 9 : 1, 1e-5) << info.name;
  }
}

}  // namespace
}  // namespace regroup
