#include "regroup/nn/sgd.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "nn/nn_testing.h"

namespace regroup {
namespace {

/// A few layers, one of them large enough to be shared by threads.
struct FewLayers : Network {
  explicit FewLayers(std::uint32_t index) {
    add_convolution("large", 64, 64, 3, 1, 1);
    add_convolution("small", 3, 5, 3, 1, 1);
    add_batch_norm("norm", 5);
    add_linear("last", 5, 4);
    const at::NoGradGuard no_grad;
    for (const Parameter& parameter : parameters())
      parameter.tensor.copy_(normal_tensor(parameter.tensor.sizes(), index++));
    for (const NamedTensor& buffer : buffers())
      buffer.tensor.copy_(normal_tensor(buffer.tensor.sizes(), index++).square() * 10);
  }

  Scores forward(const at::Tensor&) const override { return {}; }
};

enum class Layout { same, other };

void set_gradients(Network& network, std::uint32_t step, Layout layout) {
  std::uint32_t index = 1000 * (step + 1);
  for (Parameter& parameter : network.parameters()) {
    at::Tensor gradient = normal_tensor(parameter.tensor.sizes(), index++);
    if (layout == Layout::same) gradient = at::empty_like(parameter.tensor).copy_(gradient).detach();
    parameter.tensor.mutable_grad() = gradient;
  }
}

/// Sgd as it is defined, a number at a time.
struct SlowSgd {
  struct Values {
    std::vector<double> weight, velocity, ema;
  };

  static std::vector<double> numbers(const at::Tensor& tensor) {
    const at::Tensor dense = tensor.detach().to(at::kDouble).contiguous();
    return {dense.data_ptr<double>(), dense.data_ptr<double>() + dense.numel()};
  }

  SlowSgd(const Network& network, const Network& ema) {
    for (std::size_t i = 0; i < network.parameters().size(); ++i) {
      const at::Tensor& weight = network.parameters()[i].tensor;
      values.push_back({numbers(weight), std::vector<double>(static_cast<std::size_t>(weight.numel())),
                        numbers(ema.parameters()[i].tensor)});
    }
  }

  void step(const Network& network, const SgdOptions& options, double rate, double follow) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Parameter& parameter = network.parameters()[i];
      auto& [weight, velocity, ema] = values[i];
      if (parameter.tensor.grad().defined() && parameter.rate > 0) {
        const auto gradient = numbers(parameter.tensor.grad());
        for (std::size_t j = 0; j < weight.size(); ++j) {
          const double slope = gradient[j] + (parameter.decay ? options.weight_decay : 0) * weight[j];
          velocity[j] = options.momentum * velocity[j] + slope;
          weight[j] -=
              rate * parameter.rate * (options.nesterov ? slope + options.momentum * velocity[j] : velocity[j]);
        }
      }
      for (std::size_t j = 0; j < weight.size(); ++j) ema[j] = follow * ema[j] + (1 - follow) * weight[j];
    }
  }

  std::vector<Values> values;
};

double difference(const at::Tensor& tensor, const std::vector<double>& expected) {
  return regroup::difference(tensor.contiguous(), at::tensor(expected).reshape(tensor.sizes()));
}

TEST(Sgd, StepsAsItIsDefined) {
  for (const Layout layout : {Layout::same, Layout::other}) {
    for (const SgdOptions options : {SgdOptions{.momentum = 0, .nesterov = false, .weight_decay = 0},
                                     SgdOptions{.momentum = 0.9, .nesterov = false, .weight_decay = 0.01},
                                     SgdOptions{.momentum = 0.8, .nesterov = true, .weight_decay = 0.01}}) {
      FewLayers network(1), ema(100);
      SlowSgd slow(network, ema);
      auto& parameters = network.parameters();
      parameters[1].rate = 0.1;
      parameters[2].decay = false;
      parameters[3].rate = 0;
      Sgd sgd(network, options);
      for (std::uint32_t step = 0; step < 5; ++step) {
        set_gradients(network, step, layout);
        if (step % 2 == 1) parameters[4].tensor.mutable_grad().reset();
        const double rate = 0.1 / (step + 1), follow = 0.7;
        slow.step(network, options, rate, follow);
        sgd.step(rate, &ema, follow);
        for (std::size_t i = 0; i < parameters.size(); ++i) {
          SCOPED_TRACE(parameters[i].name);
          EXPECT_LE(difference(parameters[i].tensor, slow.values[i].weight), 2e-6);
          EXPECT_LE(difference(sgd.state()[i].tensor, slow.values[i].velocity), 2e-6);
          EXPECT_LE(difference(ema.parameters()[i].tensor, slow.values[i].ema), 2e-6);
          EXPECT_FALSE(parameters[i].tensor.grad().defined());
        }
      }
      const FewLayers before(1);
      EXPECT_TRUE(at::equal(parameters[3].tensor, before.parameters()[3].tensor));
    }
  }
}

TEST(Sgd, StatisticsAreFollowedAndCountersCopied) {
  FewLayers network(1), ema(100);
  const FewLayers before(100);
  Sgd sgd(network, {});
  sgd.step(0.1, &ema, 0.9);
  for (std::size_t i = 0; i < network.buffers().size(); ++i) {
    const at::Tensor &ours = network.buffers()[i].tensor, &theirs = ema.buffers()[i].tensor;
    if (ours.is_floating_point()) {
      EXPECT_LE(regroup::difference(theirs, 0.9 * before.buffers()[i].tensor + 0.1 * ours), 1e-6);
    } else {
      EXPECT_TRUE(at::equal(theirs, ours));
    }
  }
}

TEST(Sgd, AnEmaThatIsSlowIsNotRounded) {
  // 1 - 0.9999 in single precision is off by one part in six thousand.
  for (const Layout layout : {Layout::same, Layout::other}) {
    FewLayers network(1), ema(100);
    const at::NoGradGuard no_grad;
    for (const Parameter& parameter : ema.parameters()) parameter.tensor.zero_();
    set_gradients(network, 0, layout);
    Sgd(network, {}).step(0.1, &ema, 0.9999);
    for (std::size_t i = 0; i < network.parameters().size(); ++i)
      EXPECT_LE(regroup::difference(10'000 * ema.parameters()[i].tensor, network.parameters()[i].tensor), 1e-6);
  }
}

TEST(Sgd, WithoutAnEmaOnlyTheNetworkMoves) {
  FewLayers network(1), ema(100), alone(1);
  Sgd with(network, {}), without(alone, {});
  for (Network* n : {static_cast<Network*>(&network), static_cast<Network*>(&alone)})
    set_gradients(*n, 0, Layout::same);
  with.step(0.1, &ema, 0.9);
  without.step(0.1);
  for (std::size_t i = 0; i < network.parameters().size(); ++i)
    EXPECT_TRUE(at::equal(network.parameters()[i].tensor, alone.parameters()[i].tensor));
}

TEST(Sgd, ItsStateContinuesTheSameRun) {
  FewLayers network(1), copy(100);
  Sgd sgd(network, {.nesterov = true});
  std::uint32_t step = 0;
  for (; step < 3; ++step) {
    set_gradients(network, step, Layout::same);
    sgd.step(0.1);
  }
  Sgd again(copy, {.nesterov = true});
  copy_tensors(network, copy);
  const auto from = sgd.state(), to = again.state();
  ASSERT_EQ(from.size(), network.parameters().size() + 1);
  for (std::size_t i = 0; i < from.size(); ++i) to[i].tensor.copy_(from[i].tensor);
  EXPECT_EQ(from.front().name, "velocity.large.weight");
  EXPECT_EQ(from.back().name, "steps");
  for (; step < 6; ++step) {
    for (Network* n : {static_cast<Network*>(&network), static_cast<Network*>(&copy)})
      set_gradients(*n, step, Layout::same);
    sgd.step(0.1);
    again.step(0.1);
  }
  for (std::size_t i = 0; i < network.parameters().size(); ++i)
    EXPECT_TRUE(at::equal(network.parameters()[i].tensor, copy.parameters()[i].tensor)) << from[i].name;
  for (std::size_t i = 0; i < from.size(); ++i) EXPECT_TRUE(at::equal(from[i].tensor, to[i].tensor)) << from[i].name;
}

TEST(Sgd, WhatIsThawedStartsWithoutOldGradients) {
  FewLayers network(1);
  for (Parameter& parameter : network.parameters()) parameter.rate = 0;
  Sgd sgd(network, {});
  set_gradients(network, 0, Layout::same);
  sgd.step(0.1);
  for (const Parameter& parameter : network.parameters()) EXPECT_FALSE(parameter.tensor.grad().defined());
}

}  // namespace
}  // namespace regroup
