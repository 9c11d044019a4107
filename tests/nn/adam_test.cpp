#include "regroup/nn/adam.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "nn/nn_testing.h"

namespace regroup {
namespace {

struct TwoLayers : Network {
  TwoLayers() {
    add_convolution("first", 3, 4, 3, 1, 1);
    add_linear("last", 5, 4);
    const at::NoGradGuard no_grad;
    std::uint32_t index = 1;
    for (const Parameter& parameter : parameters())
      parameter.tensor.copy_(normal_tensor(parameter.tensor.sizes(), index++));
  }

  Scores forward(const at::Tensor&) const override { return {}; }
};

/// Algorithm 1 of the paper, a number at a time, with weight decay in the gradient.
struct SlowAdam {
  double weight, mean = 0, square = 0;
  int steps = 0;

  void step(double gradient, double rate, double beta1, const AdamOptions& options) {
    ++steps;
    gradient += options.weight_decay * weight;
    mean = beta1 * mean + (1 - beta1) * gradient;
    square = options.beta2 * square + (1 - options.beta2) * gradient * gradient;
    const double m = mean / (1 - std::pow(beta1, steps)), v = square / (1 - std::pow(options.beta2, steps));
    weight -= rate * m / (std::sqrt(v) + options.epsilon);
  }
};

TEST(Adam, StepsAsItIsDefined) {
  TwoLayers network, ema;
  const AdamOptions options{.weight_decay = 0.01};
  Adam adam(network, options);
  std::vector<std::vector<SlowAdam>> slow;
  for (const Parameter& parameter : network.parameters()) {
    slow.emplace_back();
    const at::Tensor flat = parameter.tensor.detach().contiguous().flatten();
    for (std::int64_t i = 0; i < flat.numel(); ++i) slow.back().push_back({flat[i].item<double>()});
  }
  for (std::uint32_t step = 0; step < 6; ++step) {
    // Its beta 1 may change on the way, and what is forgotten begins anew.
    if (step == 3) adam.momentum = 0.1;
    if (step == 4) {
      adam.forget("last");
      for (std::size_t p = 1; p < slow.size(); ++p)
        for (SlowAdam& one : slow[p]) one = {one.weight};
    }
    std::uint32_t index = 100 * (step + 1);
    for (std::size_t p = 0; p < slow.size(); ++p) {
      const at::Tensor gradient = normal_tensor(network.parameters()[p].tensor.sizes(), index++);
      network.parameters()[p].tensor.mutable_grad() = gradient;
      const at::Tensor flat = gradient.contiguous().flatten();
      for (std::size_t i = 0; i < slow[p].size(); ++i)
        slow[p][i].step(flat[static_cast<std::int64_t>(i)].item<double>(), 0.01, adam.momentum, options);
    }
    adam.step(0.01, &ema, 0.5);
    for (std::size_t p = 0; p < slow.size(); ++p) {
      const at::Tensor flat = network.parameters()[p].tensor.detach().contiguous().flatten();
      for (std::size_t i = 0; i < slow[p].size(); ++i)
        ASSERT_NEAR(flat[static_cast<std::int64_t>(i)].item<double>(), slow[p][i].weight, 1e-5) << step;
    }
  }
  EXPECT_GT(difference(ema.parameters()[0].tensor, TwoLayers().parameters()[0].tensor), 1e-3) << "the ema follows";
}

}  // namespace
}  // namespace regroup
