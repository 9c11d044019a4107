#include "regroup/nn/convolution.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "regroup/nn/engine.h"
#include "regroup/nn/kernels/bf16_convolution.h"
#include "regroup/nn/kernels/winograd.h"
#include "regroup/nn/precision.h"

namespace regroup {
namespace {

/// The largest difference, as a share of the largest value.
double relative_difference(const at::Tensor& ours, const at::Tensor& exact) {
  return ((ours.to(at::kDouble) - exact).abs().max() / exact.abs().max()).item<double>();
}

struct Case {
  std::int64_t in, out, kernel, stride, padding, side;
};

// Shapes that go by Winograd's algorithm, by a matrix product, and by neither.
const std::vector<Case> cases = {{16, 32, 3, 1, 1, 9}, {32, 16, 3, 1, 1, 8}, {64, 64, 3, 1, 1, 4}, {3, 16, 3, 1, 1, 9},
                                 {16, 32, 3, 2, 1, 9}, {16, 32, 1, 1, 0, 9}, {4, 8, 1, 2, 0, 9},   {16, 8, 1, 2, 0, 8}};

struct Differences {
  double output, images, weight;
};

/// Output and gradients, in the precision that is on, against the engine's own convolution in double precision.
Differences differences(const Case& c, const at::Tensor& values, const at::Tensor& kernel) {
  const auto layout = at::MemoryFormat::ChannelsLast;
  const at::Tensor x = values.contiguous(layout).requires_grad_();
  const at::Tensor weight = kernel.contiguous(layout).requires_grad_();
  const at::Tensor y = Convolution{weight, c.stride, c.padding}(x);
  const at::Tensor dy = at::randn(y.sizes()).to(y.scalar_type());
  y.backward(dy);

  const at::Tensor exact_x = x.detach().to(at::kDouble).requires_grad_();
  const at::Tensor exact_weight = weight.detach().to(at::kDouble).requires_grad_();
  const at::Tensor exact = at::conv2d(exact_x, exact_weight, {}, {c.stride, c.stride}, {c.padding, c.padding});
  exact.backward(dy.to(at::kDouble));
  return {relative_difference(y.detach(), exact.detach()), relative_difference(x.grad(), exact_x.grad()),
          relative_difference(weight.grad(), exact_weight.grad())};
}

at::Tensor images_of(const Case& c) { return at::randn({8, c.in, c.side, c.side}); }
at::Tensor kernel_of(const Case& c) { return at::randn({c.out, c.in, c.kernel, c.kernel}); }

TEST(Convolution, HasTheOutputAndGradientsOfTheEnginesOwn) {
  at::manual_seed(1);
  for (const Case& c : cases) {
    const Differences found = differences(c, images_of(c), kernel_of(c));
    EXPECT_LT(found.output, 2e-6) << c.in;
    EXPECT_LT(found.images, 2e-6) << c.in;
    EXPECT_LT(found.weight, 5e-6) << c.in;
  }
}

TEST(Convolution, RoundsItsResultsToBf16AndNothingElse) {
  at::manual_seed(1);
  const PrecisionScope bf16(Precision::bf16, at::kCPU);
  for (const Case& c : cases) {
    // What bf16 can hold, so that nothing is lost on the way in; a result is then off by half of the last of 8 bits.
    const auto held = [](const at::Tensor& t) { return t.to(at::kBFloat16).to(at::kFloat); };
    const Differences found = differences(c, held(images_of(c)), held(kernel_of(c)));
    EXPECT_LE(found.output, 0x1p-8) << c.in;
    EXPECT_LE(found.images, 0x1p-8) << c.in;
    EXPECT_LE(found.weight, 0x1p-8) << c.in;
    EXPECT_GT(found.output, 0x1p-13) << c.in;
    EXPECT_EQ((Convolution{kernel_of(c), c.stride, c.padding}(images_of(c)).scalar_type()), at::kBFloat16);
  }
}

/// As inside of a network, where images are bf16 already.
TEST(Convolution, TakesBf16Images) {
  at::manual_seed(1);
  const PrecisionScope bf16(Precision::bf16, at::kCPU);
  for (const Case& c : cases) {
    const Differences found =
        differences(c, images_of(c).to(at::kBFloat16), kernel_of(c).to(at::kBFloat16).to(at::kFloat));
    EXPECT_LE(found.output, 0x1p-8) << c.in;
    EXPECT_LE(found.images, 0x1p-8) << c.in;
    const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    const bool sums_stay_fp32 = bf16_convolution_pays(
        {8, size(c.side), size(c.side), size(c.in), size(c.out), size(c.kernel), size(c.stride), size(c.padding)});
    EXPECT_LE(found.weight, sums_stay_fp32 ? 1e-5 : 0x1p-8) << c.in;
  }
}

/// x goes through the convolution and beside it.
TEST(Convolution, SumsUpTheGradientsOfBothWays) {
  at::manual_seed(1);
  const auto layout = at::MemoryFormat::ChannelsLast;
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    const PrecisionScope scope(precision, at::kCPU);
    const auto type = precision == Precision::bf16 ? at::kBFloat16 : at::kFloat;
    for (const Case& c : cases) {
      const at::Tensor x = images_of(c).to(type).contiguous(layout).requires_grad_();
      const at::Tensor weight = kernel_of(c).to(at::kBFloat16).to(at::kFloat).contiguous(layout).requires_grad_();
      const auto [y, beside] = Convolution{weight, c.stride, c.padding}.beside(x);
      const at::Tensor dy = at::randn(y.sizes()).to(y.scalar_type()), dbeside = at::randn(x.sizes()).to(type);
      EXPECT_TRUE(beside.equal(x));
      ((y * dy).sum() + (beside * dbeside).sum()).backward();

      const at::Tensor exact_x = x.detach().to(at::kDouble).requires_grad_();
      const at::Tensor exact_weight = weight.detach().to(at::kDouble).requires_grad_();
      const at::Tensor exact = at::conv2d(exact_x, exact_weight, {}, {c.stride, c.stride}, {c.padding, c.padding});
      ((exact * dy.to(at::kDouble)).sum() + (exact_x * dbeside.to(at::kDouble)).sum()).backward();
      const double rounded = precision == Precision::bf16 ? 0x1p-7 : 5e-6;  // the engine rounds both ways and their sum
      EXPECT_LE(relative_difference(x.grad(), exact_x.grad()), rounded) << c.in;
      EXPECT_LE(relative_difference(weight.grad(), exact_weight.grad()), rounded) << c.in;
    }
  }
}

/// What is said where a derivative is to be differentiated again, or nothing.
std::string refusal_of_second_derivatives(const Case& c, at::ScalarType type) {
  const auto layout = at::MemoryFormat::ChannelsLast;
  const at::Tensor x = images_of(c).to(type).contiguous(layout).requires_grad_();
  const at::Tensor weight = kernel_of(c).contiguous(layout).requires_grad_();
  const at::Tensor y = Convolution{weight, c.stride, c.padding}(x);
  try {
    torch::autograd::grad({y.square().sum()}, {x, weight}, {}, /*retain_graph=*/true, /*create_graph=*/true);
    return "";
  } catch (const std::logic_error& error) {
    return error.what();
  }
}

TEST(Convolution, RefusesSecondDerivativesWhereItIsOurOwn) {
  at::manual_seed(1);
  const Case winograd{16, 32, 3, 1, 1, 9}, pointwise{16, 32, 1, 1, 0, 9}, strided{4, 8, 1, 2, 0, 9},
      engines{3, 16, 3, 1, 1, 9};
  const std::string pointwise_only = "the pointwise convolution has first derivatives only";
  const std::string winograd_only = winograd_available() ? "the Winograd convolution has first derivatives only" : "";
  EXPECT_EQ(refusal_of_second_derivatives(winograd, at::kFloat), winograd_only);
  EXPECT_EQ(refusal_of_second_derivatives(pointwise, at::kFloat), pointwise_only);
  EXPECT_EQ(refusal_of_second_derivatives(strided, at::kFloat), pointwise_only);
  EXPECT_EQ(refusal_of_second_derivatives(engines, at::kFloat), "");

  const PrecisionScope bf16(Precision::bf16, at::kCPU);
  if (bf16_convolution_pays({8, 9, 9, 16, 32, 3, 1, 1})) {
    EXPECT_EQ(refusal_of_second_derivatives(winograd, at::kBFloat16),
              "the bf16 convolution has first derivatives only");
  }
  if (!cpu_has_bf16()) {  // the convolutions of fp32 stand in
    EXPECT_EQ(refusal_of_second_derivatives(winograd, at::kBFloat16), winograd_only);
    EXPECT_EQ(refusal_of_second_derivatives(pointwise, at::kBFloat16), pointwise_only);
  }
}

}  // namespace
}  // namespace regroup
