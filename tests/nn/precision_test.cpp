#include "regroup/nn/precision.h"

#include <gtest/gtest.h>
#include <torch/cuda.h>

#include "nn/nn_testing.h"
#include "regroup/nn/engine.h"
#include "regroup/nn/network.h"
#include "support/user_error.h"

namespace regroup {
namespace {

TEST(Precision, AnUnknownNameListsTheKnown) {
  EXPECT_EQ(user_error([] { choose_precision("fp16", at::kCPU); }),
            "unknown precision 'fp16'; known: auto, fp32, bf16");
  EXPECT_EQ(user_error([] { choose_device("gpu"); }), "unknown device 'gpu'; known: auto, cpu, cuda");
  EXPECT_EQ(user_error([] { choose_device(""); }), "unknown device ''; known: auto, cpu, cuda");
}

TEST(Precision, IsChosenByTheDevice) {
  for (const at::Device device : {at::Device(at::kCPU), at::Device(at::kCUDA, 0)}) {
    EXPECT_EQ(choose_precision("fp32", device), Precision::fp32);
    EXPECT_EQ(choose_precision("bf16", device), Precision::bf16);
  }
  EXPECT_EQ(choose_precision("auto", {at::kCUDA, 0}), Precision::bf16);
  EXPECT_EQ(choose_precision("auto", at::kCPU),
            engine_info().cpu_precision == "bf16" ? Precision::bf16 : Precision::fp32);
}

TEST(Precision, TheDeviceIsTheOneThatThereIs) {
  EXPECT_EQ(choose_device("cpu"), at::Device(at::kCPU));
  if (torch::cuda::is_available()) {
    EXPECT_EQ(choose_device("auto"), at::Device(at::kCUDA, 0));
    EXPECT_EQ(choose_device("cuda"), at::Device(at::kCUDA, 0));
  } else {
    EXPECT_EQ(choose_device("auto"), at::Device(at::kCPU));
    EXPECT_EQ(user_error([] { choose_device("cuda"); }),
              "there is no CUDA device that this engine can use; give --device cpu");
  }
}

TEST(Precision, HoldsWithinItsScope) {
  const at::Tensor x = normal_tensor({1, 8, 5, 5}, 1), weight = normal_tensor({8, 8, 3, 3}, 2);
  const auto type = [&] { return at::conv2d(x, weight).scalar_type(); };
  EXPECT_EQ(type(), at::kFloat);
  {
    const PrecisionScope bf16(Precision::bf16, at::kCPU);
    EXPECT_EQ(type(), at::kBFloat16);
    {
      const PrecisionScope fp32(Precision::fp32, at::kCPU);
      EXPECT_EQ(type(), at::kFloat);
      {
        const PrecisionScope inner(Precision::bf16, at::kCPU);
        EXPECT_EQ(type(), at::kBFloat16);
      }
      EXPECT_EQ(type(), at::kFloat);
    }
    EXPECT_EQ(type(), at::kBFloat16);
  }
  EXPECT_EQ(type(), at::kFloat);
  try {
    const PrecisionScope bf16(Precision::bf16, at::kCPU);
    throw std::runtime_error("an error on the way");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(type(), at::kFloat);
}

TEST(Precision, ChangedWeightsAreSeenByTheNextScope) {
  const at::Tensor x = at::ones({1, 8, 3, 3}), weight = at::zeros({8, 8, 3, 3}).requires_grad_();
  for (const double value : {0.0, 1.0}) {
    {
      const at::NoGradGuard no_grad;
      weight.fill_(value);
    }
    const PrecisionScope bf16(Precision::bf16, at::kCPU);
    EXPECT_EQ(at::conv2d(x, weight).sum().item<double>(), 8 * 72 * value);
  }
}

TEST(Precision, LogitsAndGradientsAreFp32InEveryNetwork) {
  const at::Tensor images = normal_tensor({4, 3, 32, 32}, 1);
  for (const NetworkInfo& info : networks()) {
    if (info.takes_vectors()) continue;
    // Channels that are normalised by our own kernels, and channels that are not.
    for (const int width : {8, 12}) {
      SCOPED_TRACE(info.name);
      SCOPED_TRACE(width);
      const auto network = make_network(info.name, {.base_width = width}, 1);
      const auto logits_in = [&](Precision precision) {
        const PrecisionScope scope(precision, at::kCPU);
        return network->forward(images).logits;
      };
      network->training = false;  // statistics of four images would magnify the rounding
      const at::Tensor exact = logits_in(Precision::fp32), rounded = logits_in(Precision::bf16);
      const double error = ((rounded - exact).abs().max() / exact.abs().max()).item<double>();
      EXPECT_GT(error, 0);
      EXPECT_LE(error, 0.05);
      network->training = true;
      const at::Tensor logits = logits_in(Precision::bf16);
      EXPECT_EQ(logits.scalar_type(), at::kFloat);
      at::cross_entropy_loss(logits, at::arange(4, at::kLong)).backward();
      for (const Parameter& parameter : network->parameters()) {
        ASSERT_TRUE(parameter.tensor.grad().defined()) << parameter.name;
        EXPECT_EQ(parameter.tensor.grad().scalar_type(), at::kFloat) << parameter.name;
        EXPECT_GT(parameter.tensor.grad().abs().max().item<double>(), 0) << parameter.name;
      }
    }
  }
}

TEST(Precision, GradientsReachWeightsThatWereUsedWithoutThemBefore) {
  const at::Tensor images = normal_tensor({2, 3, 32, 32}, 1);
  const auto network = make_network("resnet18", {.base_width = 8}, 1);
  const PrecisionScope bf16(Precision::bf16, at::kCPU);
  {
    const at::NoGradGuard no_grad;
    network->forward(images);
  }
  network->forward(images).logits.square().sum().backward();
  for (const Parameter& parameter : network->parameters())
    EXPECT_TRUE(parameter.tensor.grad().defined()) << parameter.name;
}

}  // namespace
}  // namespace regroup
