#include "regroup/nn/label_losses.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/autograd.h>

#include "nn/nn_testing.h"

namespace regroup {
namespace {

at::Tensor by_the_engine(const at::Tensor& logits, const at::Tensor& labels) {
  return -at::log_softmax(logits, 1).gather(1, labels.unsqueeze(1)).squeeze(1);
}

const at::Tensor labels = at::tensor({2, 0, 4, 4, 1, 3, 0}, at::kLong);

TEST(LabelLosses, AreTheCrossEntropyWithItsGradient) {
  for (const bool turned : {false, true}) {
    const at::Tensor logits =
        (turned ? normal_tensor({5, 7}, 1).t() * 3 : normal_tensor({7, 5}, 1) * 3).detach().requires_grad_();
    const at::Tensor factors = normal_tensor({7}, 2);
    const auto gradient = [&](const at::Tensor& losses) {
      return torch::autograd::grad({(losses * factors).sum()}, {logits})[0];
    };
    const at::Tensor losses = label_losses(logits, labels), expected = by_the_engine(logits, labels);
    EXPECT_LT(difference(losses, expected), 1e-6);
    EXPECT_LT(difference(gradient(losses), gradient(expected)), 1e-6);
    // The gradient of a mean is one number that stands for all.
    EXPECT_LT(difference(torch::autograd::grad({label_losses(logits, labels).mean()}, {logits})[0],
                         torch::autograd::grad({by_the_engine(logits, labels).mean()}, {logits})[0]),
              1e-6);
  }
}

TEST(LabelLosses, HaveSecondDerivatives) {
  const at::Tensor logits = normal_tensor({7, 5}, 1).requires_grad_();
  const auto second = [&](const auto& losses_of) {
    const auto first = torch::autograd::grad({losses_of(logits, labels).pow(2).sum()}, {logits}, {}, true, true);
    return torch::autograd::grad({first[0].pow(2).sum()}, {logits})[0];
  };
  EXPECT_LT(difference(second(label_losses), second(by_the_engine)), 1e-5);
}

TEST(LabelLosses, NeedNoGradient) {
  const at::Tensor losses = label_losses(normal_tensor({7, 5}, 1), labels);
  EXPECT_FALSE(losses.requires_grad());
  EXPECT_LT(difference(losses, by_the_engine(normal_tensor({7, 5}, 1), labels)), 1e-6);
}

}  // namespace
}  // namespace regroup
