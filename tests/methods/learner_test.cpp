#include "regroup/methods/learner.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "regroup/nn/adam.h"
#include "regroup/nn/sgd.h"
#include "regroup/nn/weights.h"
#include "support/user_error.h"

namespace regroup {
namespace {

std::unique_ptr<Network> make(std::uint32_t start) { return make_network("resnet18", {1, 28, 28, 3, 4}, 1, start); }
std::unique_ptr<Optimizer> sgd(Network& network) { return std::make_unique<Sgd>(network, SgdOptions{}); }
std::unique_ptr<Optimizer> adam(Network& network) { return std::make_unique<Adam>(network, AdamOptions{}); }

at::Tensor images() { return at::arange(4 * 28 * 28).view({4, 1, 28, 28}).to(at::kFloat).sin(); }
at::Tensor loss_of(Learner& learner) { return learner.forward(images()).logits.square().mean(); }

std::vector<at::Tensor> copies(const Network& network) {
  std::vector<at::Tensor> tensors;
  for (const NamedTensor& tensor : tensors_of(network)) tensors.push_back(tensor.tensor.detach().clone());
  return tensors;
}

/// The tensors that differ from copies made before, and are learnt.
std::vector<std::string> changed(const Network& network, const std::vector<at::Tensor>& before) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < network.parameters().size(); ++i)
    if (!at::equal(network.parameters()[i].tensor, before[i])) names.push_back(network.parameters()[i].name);
  return names;
}

bool all_in(const std::vector<std::string>& names, std::string_view prefix) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) { return name.starts_with(prefix); });
}

TEST(Learner, ALossThatIsNotFiniteChangesNothing) {
  Learner learner("model", make, sgd, {});
  learner.rate = 0.1;
  const auto before = copies(learner.model());
  const at::Tensor broken = loss_of(learner) * std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(user_error([&] { learner.step(broken); }).find("the loss is nan"), std::string::npos);
  EXPECT_TRUE(changed(learner.model(), before).empty());
}

TEST(Learner, AStepReturnsTheLoss) {
  Learner learner("model", make, sgd, {});
  const at::Tensor loss = loss_of(learner);
  EXPECT_EQ(learner.step(loss), loss.item<double>());
}

TEST(Learner, ALongGradientIsShortened) {
  const auto step = [](double longest, double factor) {
    Learner learner("model", make,
                    [](Network& network) {
                      return std::make_unique<Sgd>(network, SgdOptions{0, false, 0});
                    },
                    {});
    learner.rate = 1;
    learner.largest_gradient = longest;
    const auto before = copies(learner.model());
    learner.step(loss_of(learner) * factor);
    double squares = 0;
    for (std::size_t i = 0; i < learner.model().parameters().size(); ++i)
      squares += (learner.model().parameters()[i].tensor - before[i]).square().sum().item<double>();
    return std::sqrt(squares);
  };
  const double length = step(0, 1);
  EXPECT_NEAR(step(length / 4, 1), length / 4, 1e-3 * length);
  EXPECT_NEAR(step(length / 4, 3), length / 4, 1e-3 * length) << "whatever its length was";
  EXPECT_NEAR(step(length * 4, 1), length, 1e-3 * length) << "a short one stays";
}

TEST(Learner, TheEmaFollowsByTheDecayOfTheStep) {
  Learner learner("model", make, sgd, {});
  learner.rate = 0.1;
  learner.ema_decay = 0;
  learner.step(loss_of(learner));
  EXPECT_TRUE(at::equal(learner.ema()->parameters()[0].tensor, learner.model().parameters()[0].tensor));
  learner.ema_decay = 1;
  const auto before = copies(*learner.ema());
  learner.step(loss_of(learner));
  EXPECT_TRUE(changed(*learner.ema(), before).empty());
}

TEST(Learner, TheEmaPredictsWithoutGradientsAndTheNetworkWhereThereIsNone) {
  Learner learner("model", make, sgd, {});
  learner.ema()->parameters().back().tensor.add_(1);
  const at::Tensor by_ema = learner.forward_ema(images()).logits;
  EXPECT_FALSE(by_ema.requires_grad());
  EXPECT_TRUE(by_ema.allclose(learner.forward_in_evaluation(images()).logits + 1));
  Learner without("model", make, sgd, {.ema = 0});
  EXPECT_TRUE(at::equal(without.forward_ema(images()).logits, without.forward_in_evaluation(images()).logits));
}

TEST(Learner, WhatIsFrozenStaysAndTheRestLearns) {
  Learner learner("model", make, sgd, {});
  learner.rate = 0.1;
  learner.freeze("");
  learner.freeze("fc", false);
  auto before = copies(learner.model());
  learner.step(loss_of(learner));
  auto names = changed(learner.model(), before);
  EXPECT_EQ(names.size(), 2U);
  EXPECT_TRUE(all_in(names, "fc"));
  learner.freeze("", false);
  before = copies(learner.model());
  learner.step(loss_of(learner));
  EXPECT_EQ(changed(learner.model(), before).size(), learner.model().parameters().size());
}

std::set<std::string> all_names(const Network& network) {
  std::set<std::string> names;
  for (const NamedTensor& tensor : tensors_of(network)) names.insert(tensor.name);
  return names;
}

TEST(Learner, WhatIsLoadedAndHeldStaysWithItsStatisticsAndTheClassifierLearns) {
  Learner learner("model", make, sgd, {});
  learner.rate = 0.1;
  learner.set_loaded(all_names(learner.model()));
  learner.hold_loaded(true);
  auto before = copies(learner.model());
  const at::Tensor statistics = learner.model().buffers().front().tensor.clone();
  learner.step(loss_of(learner));
  auto names = changed(learner.model(), before);
  EXPECT_EQ(names.size(), 2U);
  EXPECT_TRUE(all_in(names, "fc"));
  EXPECT_TRUE(at::equal(learner.model().buffers().front().tensor, statistics));
  // What begins anew learns.
  learner.restart("layer4");
  before = copies(learner.model());
  learner.step(loss_of(learner));
  names = changed(learner.model(), before);
  EXPECT_GT(names.size(), 2U);
  EXPECT_TRUE(std::all_of(names.begin(), names.end(),
                          [](const auto& name) { return name.starts_with("fc") || name.starts_with("layer4"); }));
  EXPECT_FALSE(at::equal(learner.model().buffers().front().tensor, statistics)) << "new layers need them followed";
  learner.hold_loaded(false);
  before = copies(learner.model());
  learner.step(loss_of(learner));
  EXPECT_EQ(changed(learner.model(), before).size(), learner.model().parameters().size());
}

TEST(Learner, LoadedStatisticsAreKeptWhereThatIsAskedForAndAllElseLearns) {
  LearnerOptions options;
  options.keep_statistics = true;
  Learner learner("model", make, sgd, options);
  learner.rate = 0.1;
  const auto statistics = [&] { return learner.model().buffers().front().tensor; };
  const at::Tensor before = statistics().clone();
  learner.set_loaded(all_names(learner.model()));
  const auto weights = copies(learner.model());
  learner.step(loss_of(learner));
  EXPECT_TRUE(at::equal(statistics(), before));
  EXPECT_EQ(changed(learner.model(), weights).size(), learner.model().parameters().size());
  learner.restart("layer4");
  learner.step(loss_of(learner));
  EXPECT_FALSE(at::equal(statistics(), before)) << "new layers have none to keep";
}

TEST(Learner, HoldingAndFreezingDoNotUndoEachOther) {
  Learner learner("model", make, sgd, {});
  learner.rate = 0.1;
  learner.set_loaded({"conv1.weight"});
  learner.freeze("layer1");
  learner.hold_loaded(true);
  learner.freeze("layer2");
  learner.freeze("layer2", false);
  auto before = copies(learner.model());
  learner.step(loss_of(learner));
  for (const std::string& name : changed(learner.model(), before))
    EXPECT_FALSE(name == "conv1.weight" || name.starts_with("layer1")) << name;
  learner.hold_loaded(false);
  before = copies(learner.model());
  learner.step(loss_of(learner));
  const auto names = changed(learner.model(), before);
  EXPECT_EQ(std::count(names.begin(), names.end(), "conv1.weight"), 1);
  EXPECT_FALSE(std::any_of(names.begin(), names.end(), [](const auto& n) { return n.starts_with("layer1"); }));
}

TEST(Learner, WhatIsLoadedTakesSmallerSteps) {
  const auto step_of = [](double loaded_rate) {
    LearnerOptions options;
    options.loaded_rate = loaded_rate;
    Learner learner(
        "model", make,
        [](Network& network) {
          return std::make_unique<Sgd>(network, SgdOptions{0, false, 0});
        },
        options);
    learner.rate = 0.1;
    learner.set_loaded({"conv1.weight", "fc.weight"});
    const auto before = copies(learner.model());
    learner.step(loss_of(learner));
    std::map<std::string, at::Tensor> steps;
    for (std::size_t i = 0; i < learner.model().parameters().size(); ++i)
      steps[learner.model().parameters()[i].name] = learner.model().parameters()[i].tensor.detach() - before[i];
    return steps;
  };
  auto all = step_of(1), tenth = step_of(0.1);
  const auto ratio = [&](const std::string& name) {
    return (tenth.at(name).norm() / all.at(name).norm()).item<double>();
  };
  EXPECT_NEAR(ratio("conv1.weight"), 0.1, 1e-3);
  EXPECT_NEAR(ratio("fc.weight"), 1, 1e-3) << "the classifier counts as new";
  EXPECT_NEAR(ratio("layer1.0.conv1.weight"), 1, 1e-3);
}

TEST(Learner, ARestartRenewsTheLayersThatItNames) {
  Learner learner("model", make, sgd, {});
  learner.rate = 0.1;
  for (int i = 0; i < 3; ++i) learner.step(loss_of(learner));
  const auto before = copies(learner.model()), ema = copies(*learner.ema());
  learner.restart("layer4");
  const auto names = changed(learner.model(), before);
  EXPECT_GT(names.size(), 4U);
  EXPECT_TRUE(all_in(names, "layer4"));
  EXPECT_EQ(changed(*learner.ema(), ema), names);
  for (const NamedTensor& memory : learner.optimizer().state()) {
    if (memory.name == "steps") continue;
    EXPECT_EQ(memory.tensor.abs().max().item<double>() == 0, memory.name.starts_with("velocity.layer4")) << memory.name;
  }
  // Each restart begins elsewhere.
  const auto once = copies(learner.model());
  learner.restart("layer4");
  EXPECT_FALSE(changed(learner.model(), once).empty());
}

TEST(Learner, WhatIsAddedIsLearntAndSaved) {
  Learner learner("model", make, sgd, {});
  const at::Tensor matrix = learner.add("matrix", at::eye(3));
  learner.rate = 0.1;
  learner.step(at::matmul(learner.forward(images()).logits, matrix).square().mean());
  EXPECT_FALSE(at::equal(matrix, at::eye(3)));
  EXPECT_EQ(learner.model().parameters().back().name, "matrix");
  EXPECT_FALSE(at::equal(learner.ema()->parameters().back().tensor, at::eye(3))) << "its ema follows";
}

/// All that was done to a learner is state: a new one that is filled with it takes the same steps.
TEST(Learner, ItsStateContinuesTheSameRun) {
  const auto new_learner = [] {
    LearnerOptions options;
    options.loaded_rate = 0.1;
    auto learner = std::make_unique<Learner>("model", make, sgd, options);
    learner->add_optimizer("second", adam);
    return learner;
  };
  const auto first = new_learner(), second = new_learner();
  first->rate = 0.01;
  first->step(loss_of(*first));
  first->set_loaded({"conv1.weight", "layer2.0.conv1.weight"});
  first->restart("fc");
  first->freeze("layer1");
  first->use("second");
  first->step(loss_of(*first));
  State saved, filled;
  first->collect(saved);
  second->collect(filled);
  ASSERT_EQ(saved.tensors().size(), filled.tensors().size());
  {
    const at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < saved.tensors().size(); ++i)
      filled.tensors()[i].tensor.copy_(saved.tensors()[i].tensor);
    copy_tensors(first->model(), second->model());
    copy_tensors(*first->ema(), *second->ema());
  }
  second->restored();
  for (int i = 0; i < 3; ++i) {
    first->step(loss_of(*first));
    second->step(loss_of(*second));
    if (i == 1) first->restart("layer3");
    if (i == 1) second->restart("layer3");
  }
  EXPECT_TRUE(changed(second->model(), copies(first->model())).empty());
  EXPECT_TRUE(changed(*second->ema(), copies(*first->ema())).empty());
}

TEST(Learner, ItBeginsAnewFromWhatWasLoadedWhereThatIsKept) {
  Learner learner("model", make, sgd, {});
  learner.rate = 0.1;
  learner.keep_start();
  learner.set_loaded(all_names(learner.model()));
  const auto loaded = copies(learner.model());
  learner.step(loss_of(learner));
  learner.restart("");
  EXPECT_EQ(changed(learner.model(), loaded), (std::vector<std::string>{"fc.weight", "fc.bias"})) << "the classifier";
  EXPECT_TRUE(changed(*learner.ema(), copies(learner.model())).empty());
}

TEST(Learner, ItBecomesAnotherNetworkAndItsOptimizerForgets) {
  Learner learner("model", make, sgd, {});
  learner.rate = 0.1;
  const at::Tensor added = learner.add("head", at::eye(2));
  learner.step(loss_of(learner) + added.sum());
  const at::Tensor head = added.detach().clone();
  const auto other = make(7);
  learner.become(*other);
  EXPECT_TRUE(changed(*other, copies(learner.model())).empty());
  EXPECT_TRUE(changed(*other, copies(*learner.ema())).empty());
  EXPECT_TRUE(at::equal(added, head)) << "what was added stays";
  for (const NamedTensor& memory : learner.optimizer().state())
    EXPECT_EQ(memory.tensor.count_nonzero().item<std::int64_t>(), 0) << memory.name;
}

TEST(Learner, GradientsOfSeveralLossesAddUp) {
  Learner both("model", make, sgd, {}), sum("model", make, sgd, {});
  both.rate = sum.rate = 0.1;
  const at::Tensor scores = both.forward(images()).logits, same = sum.forward(images()).logits;
  EXPECT_EQ(both.add_gradient(scores.square().mean(), /*keep_graph=*/true), scores.square().mean().item<double>());
  both.step(scores.mean());
  sum.step(same.square().mean() + same.mean());
  const auto expected = copies(sum.model());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(
        at::allclose(tensors_of(both.model())[i].tensor.to(at::kFloat), expected[i].to(at::kFloat), 1e-4, 1e-5));
}

TEST(Learner, TheEmaBeginsAnewFromTheNetworkAndFollowsAsFastAsItIsTold) {
  Learner learner("model", make, sgd, {});
  learner.rate = 0.1;
  for (int i = 0; i < 20; ++i) learner.step(loss_of(learner));
  learner.restart_ema();
  EXPECT_TRUE(changed(*learner.ema(), copies(learner.model())).empty());
  learner.ema_decay = 0;
  learner.step(loss_of(learner));
  for (std::size_t i = 0; i < learner.model().parameters().size(); ++i)
    EXPECT_TRUE(at::allclose(learner.ema()->parameters()[i].tensor, learner.model().parameters()[i].tensor));
}

}  // namespace
}  // namespace regroup
