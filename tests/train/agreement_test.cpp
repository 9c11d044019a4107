// Which labels several networks agree with.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "data/made_images.h"
#include "regroup/methods/context.h"
#include "regroup/nn/engine.h"
#include "regroup/train/run_settings.h"

namespace regroup {
namespace {

constexpr int epoch = 3, views = 2, classes = 4;
constexpr std::uint32_t count = 300;  // more than one batch of the scoring

class Agreement : public testing::Test {
 protected:
  Agreement() : settings_(run_settings({{"width", "4"}, {"model", "resnet18"}, {"shift", "2"}})) {
    set_engine_threads(1);
    for (std::uint32_t member = 0; member < 2; ++member) {
      networks_.push_back(make_network(
          "resnet18", {.channels = 3, .height = 28, .width = 28, .classes = classes, .base_width = 4}, 1, member));
      networks_.back()->training = false;
    }
    for (std::uint32_t slot = 0; slot < count; ++slot) slots_.push_back(slot);
  }

  Context context(std::vector<std::int32_t> labels) const {
    TrainingSet samples;
    constexpr SampleShape shape{3, 28, 28};
    samples.source = std::make_shared<ImagesInMemory>(shape, random_bytes(count * shape.values()));
    samples.positions = slots_;
    samples.labels = std::move(labels);
    samples.classes = classes;
    samples.normalisation = {{0.5F, 0.5F, 0.5F}, {0.3F, 0.3F, 0.3F}};
    return {settings_, std::move(samples), at::kCPU, Precision::fp32, 1};
  }

  /// One sample at a time: the mean of a network's softmax over the views.
  static at::Tensor slowly(const Context& context, const Network& network, std::span<const std::uint32_t> slots) {
    const at::NoGradGuard no_grad;
    BatchPlan plan = context.plan(slots, epoch);
    plan.batch_size = 1;
    plan.shuffle = false;
    plan.views.resize(views, plan.views.front());
    const auto loader = context.make_loader(plan, 0, slots.size());
    std::vector<at::Tensor> rows;
    while (const Batch* batch = loader->next()) {
      const TensorBatch one = context.to_device(*batch);
      rows.push_back((at::softmax(network.forward(one.views[0]).logits, 1) +
                      at::softmax(network.forward(one.views[1]).logits, 1)) /
                     2);
    }
    return at::cat(rows);
  }

  /// Fresh networks say the same of nearly all images: their classes are made equally likely.
  void make_predictions_differ(const Context& context) {
    const at::NoGradGuard no_grad;
    for (const auto& network : networks_) {
      const auto bias = std::ranges::find(network->parameters(), "fc.bias", &Parameter::name);
      ASSERT_NE(bias, network->parameters().end());
      bias->tensor.sub_(slowly(context, *network, std::span(slots_).first(40)).log().mean(0));
    }
  }

  Settings settings_;
  std::vector<std::unique_ptr<Network>> networks_;
  std::vector<std::uint32_t> slots_;
};

TEST_F(Agreement, IsThatOfAllNetworksAndTheProbabilitiesAreThoseOfTheFirst) {
  std::vector<std::int32_t> labels(count);
  for (std::uint32_t i = 0; i < count; ++i) labels[i] = static_cast<std::int32_t>(i % classes);
  const Context given = context(labels);
  make_predictions_differ(given);
  const at::Tensor first = slowly(given, *networks_[0], slots_), second = slowly(given, *networks_[1], slots_);
  const auto result = given.agreement({networks_[0].get(), networks_[1].get()}, slots_, epoch, views);
  EXPECT_TRUE(at::allclose(result.probabilities, first, 1e-3, 1e-4));
  ASSERT_EQ(result.agrees.size(), count);
  int all = 0, only_first = 0, only_second = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool by_first = first[i].argmax().item<std::int64_t>() == labels[i];
    const bool by_second = second[i].argmax().item<std::int64_t>() == labels[i];
    EXPECT_EQ(result.agrees[i], by_first && by_second ? 1 : 0) << i;
    all += by_first && by_second;
    only_first += by_first && !by_second;
    only_second += !by_first && by_second;
  }
  EXPECT_GT(all, 5);
  EXPECT_GT(only_first, 5);
  EXPECT_GT(only_second, 5);

  const std::vector<std::uint32_t> some{280, 3, 17, 40, 41, 42, 43, 44, 199};
  const auto part = given.agreement({networks_[0].get(), networks_[1].get()}, some, epoch, views);
  for (std::size_t i = 0; i < some.size(); ++i) EXPECT_EQ(part.agrees[i], result.agrees[some[i]]) << some[i];
}

TEST_F(Agreement, IsNoneWhereTheFirstNetworkAgreesWithNoLabel) {
  const Context any = context(std::vector<std::int32_t>(count, 0));
  const at::Tensor predicted = slowly(any, *networks_[0], slots_).argmax(1);
  std::vector<std::int32_t> other(count);
  for (std::uint32_t i = 0; i < count; ++i)
    other[i] = static_cast<std::int32_t>((predicted[i].item<std::int64_t>() + 1) % classes);
  const auto result = context(other).agreement({networks_[0].get(), networks_[1].get()}, slots_, epoch, views);
  EXPECT_EQ(std::ranges::count(result.agrees, 0), count);
  EXPECT_EQ(result.probabilities.size(0), count);
}

}  // namespace
}  // namespace regroup
