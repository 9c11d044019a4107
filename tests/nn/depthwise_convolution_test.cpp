#include "regroup/nn/depthwise_convolution.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>

#include <tuple>

#include "nn/nn_testing.h"
#include "regroup/nn/precision.h"

namespace regroup {
namespace {

struct Result {
  at::Tensor y, dx, dweight;
};

Result gradients_of(const at::Tensor& y, const at::Tensor& x, const at::Tensor& weight) {
  const at::Tensor dy = normal_tensor(y.sizes(), 3).to(y.scalar_type());
  y.backward(dy);
  return {y.detach(), x.grad(), weight.grad()};
}

struct Inputs {
  at::Tensor x, weight;

  Inputs(std::int64_t channels, std::int64_t size, std::int64_t kernel)
      : x(normal_tensor({2, channels, size, size + 3}, 1).contiguous(at::MemoryFormat::ChannelsLast)),
        weight(normal_tensor({channels, 1, kernel, kernel}, 2)) {}

  void require_gradients() {
    x.requires_grad_();
    weight.requires_grad_();
  }
};

/// By the engine in double precision, padded by hand.
Result engines(std::int64_t channels, std::int64_t size, std::int64_t kernel, std::int64_t stride) {
  Inputs inputs(channels, size, kernel);
  inputs.x = inputs.x.to(at::kDouble).contiguous();
  inputs.weight = inputs.weight.to(at::kDouble);
  inputs.require_gradients();
  const auto total = [&](std::int64_t n) {
    return std::max<std::int64_t>(0, kernel - (n % stride == 0 ? stride : n % stride));
  };
  const std::int64_t rows = total(size), columns = total(size + 3);
  const at::Tensor padded =
      at::constant_pad_nd(inputs.x, {columns / 2, columns - columns / 2, rows / 2, rows - rows / 2});
  return gradients_of(at::conv2d(padded, inputs.weight, {}, {stride, stride}, at::IntArrayRef{0, 0}, {1, 1}, channels),
                      inputs.x, inputs.weight);
}

TEST(DepthwiseConvolution, IsTheEnginesOfImagesThatArePaddedAsTensorFlowDoes) {
  // Twelve channels are no multiple of 8, and of the small kernel without a stride the engine's are faster.
  for (const std::int64_t channels : {16, 12})
    for (const auto& [size, kernel, stride] : {std::tuple{14, 3, 1}, {14, 3, 2}, {15, 5, 2}, {14, 5, 2}, {7, 5, 1}}) {
      SCOPED_TRACE(testing::Message() << channels << " channels, size " << size << ", kernel " << kernel << ", stride "
                                      << stride);
      Inputs inputs(channels, size, kernel);
      inputs.require_gradients();
      const at::Tensor y = DepthwiseConvolution{inputs.weight, stride}(inputs.x);
      EXPECT_EQ(y.grad_fn()->name().find("OwnDepthwiseConvolution") != std::string::npos,
                channels == 16 && (kernel == 5 || stride == 2));
      EXPECT_TRUE(y.is_contiguous(at::MemoryFormat::ChannelsLast));
      const Result ours = gradients_of(y, inputs.x, inputs.weight), expected = engines(channels, size, kernel, stride);
      EXPECT_LE(difference(ours.y, expected.y), 1e-5);
      EXPECT_LE(difference(ours.dx, expected.dx), 1e-5);
      EXPECT_LE(difference(ours.dweight, expected.dweight), 1e-4);
      const at::NoGradGuard no_grad;
      EXPECT_TRUE(at::equal(DepthwiseConvolution{inputs.weight, stride}(inputs.x), ours.y));
    }
}

TEST(DepthwiseConvolution, InBf16TheImagesAreRoundedAndTheWeightsAreNot) {
  Inputs inputs(16, 14, 5);
  const PrecisionScope scope(Precision::bf16, at::kCPU);
  const at::Tensor rounded = inputs.x.to(at::kBFloat16);
  const at::Tensor y = DepthwiseConvolution{inputs.weight, 2}(inputs.x);
  EXPECT_EQ(y.scalar_type(), at::kBFloat16);
  const PrecisionScope exact(Precision::fp32, at::kCPU);
  EXPECT_LE(difference(y, DepthwiseConvolution{inputs.weight, 2}(rounded.to(at::kFloat))), 0x1p-8);
}

TEST(DepthwiseConvolution, WhatIsFrozenGetsNoGradient) {
  Inputs inputs(16, 14, 5);
  inputs.x.requires_grad_();
  DepthwiseConvolution{inputs.weight, 1}(inputs.x).sum().backward();
  EXPECT_TRUE(inputs.x.grad().defined());
  EXPECT_FALSE(inputs.weight.grad().defined());
  Inputs others(16, 14, 5);
  others.weight.requires_grad_();
  DepthwiseConvolution{others.weight, 1}(others.x).sum().backward();
  EXPECT_FALSE(others.x.grad().defined());
  EXPECT_TRUE(others.weight.grad().defined());
}

TEST(DepthwiseConvolution, HasFirstDerivativesOnly) {
  Inputs inputs(8, 9, 5);
  inputs.require_gradients();
  const at::Tensor y = DepthwiseConvolution{inputs.weight, 1}(inputs.x).sum();
  EXPECT_THROW(torch::autograd::grad({y}, {inputs.x}, {}, /*retain_graph=*/true, /*create_graph=*/true),
               std::logic_error);
}

}  // namespace
}  // namespace regroup
