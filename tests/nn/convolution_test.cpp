#include "regroup/nn/convolution.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace regroup {
namespace {

/// The largest difference, as a share of the largest value.
double relative_difference(const at::Tensor& ours, const at::Tensor& exact) {
  return ((ours.to(at::kDouble) - exact).abs().max() / exact.abs().max()).item<double>();
}

/// Output and gradients against the engine's own convolution in double precision, for shapes that go by Winograd's
/// algorithm and for some that do not.
TEST(Convolution, HasTheOutputAndGradientsOfTheEnginesOwn) {
  at::manual_seed(1);
  struct Case {
    std::int64_t in, out, kernel, stride, padding, side;
  };
  for (const Case& c :
       {Case{16, 32, 3, 1, 1, 9}, Case{32, 16, 3, 1, 1, 8}, Case{64, 64, 3, 1, 1, 4}, Case{3, 16, 3, 1, 1, 9},
        Case{16, 32, 3, 2, 1, 9}, Case{16, 32, 1, 1, 0, 9}, Case{4, 8, 1, 2, 0, 9}, Case{16, 8, 1, 2, 0, 8}}) {
    const auto layout = at::MemoryFormat::ChannelsLast;
    const at::Tensor x = at::randn({8, c.in, c.side, c.side}).contiguous(layout).requires_grad_();
    const at::Tensor weight = at::randn({c.out, c.in, c.kernel, c.kernel}).contiguous(layout).requires_grad_();
    const at::Tensor y = Convolution{weight, c.stride, c.padding}(x);
    const at::Tensor dy = at::randn_like(y);
    y.backward(dy);

    const at::Tensor exact_x = x.detach().to(at::kDouble).requires_grad_();
    const at::Tensor exact_weight = weight.detach().to(at::kDouble).requires_grad_();
    const at::Tensor exact = at::conv2d(exact_x, exact_weight, {}, {c.stride, c.stride}, {c.padding, c.padding});
    exact.backward(dy.to(at::kDouble));
    EXPECT_LT(relative_difference(y.detach(), exact.detach()), 2e-6) << c.in;
    EXPECT_LT(relative_difference(x.grad(), exact_x.grad()), 2e-6) << c.in;
    EXPECT_LT(relative_difference(weight.grad(), exact_weight.grad()), 5e-6) << c.in;
  }
}

}  // namespace
}  // namespace regroup
