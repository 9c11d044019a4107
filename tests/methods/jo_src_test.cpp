#include "regroup/methods/jo_src.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace regroup {
namespace {

TEST(JoSrc, DivergencesAreThoseOfTheirDefinitions) {
  const at::Tensor p = at::tensor({0.7F, 0.2F, 0.1F, 0.05F, 0.05F, 0.9F}).view({2, 3});
  const at::Tensor q = at::tensor({0.4F, 0.3F, 0.3F, 0.6F, 0.2F, 0.2F}).view({2, 3});
  const auto divergence = [](const at::Tensor& a, const at::Tensor& b) {
    double sum = 0;
    for (std::int64_t c = 0; c < 3; ++c)
      sum += a[c].item<double>() * std::log2(a[c].item<double>() / b[c].item<double>());
    return sum;
  };
  const at::Tensor js = jensen_shannon(p.log(), q.log()), kl = symmetric_divergence(p.log(), q.log());
  for (std::int64_t i = 0; i < 2; ++i) {
    const at::Tensor m = (p[i] + q[i]) / 2;
    EXPECT_NEAR(js[i].item<double>(), (divergence(p[i], m) + divergence(q[i], m)) / 2, 1e-5);
    EXPECT_NEAR(kl[i].item<double>(), divergence(p[i], q[i]) + divergence(q[i], p[i]), 1e-5);
  }
}

TEST(JoSrc, TheThresholdRisesToItsFirstValueAndThenToItsLast) {
  EXPECT_EQ(clean_threshold(0, 200, 10, 0.75, 0.95), 0);
  EXPECT_NEAR(clean_threshold(5, 200, 10, 0.75, 0.95), 0.375, 1e-12);
  EXPECT_NEAR(clean_threshold(10, 200, 10, 0.75, 0.95), 0.75, 1e-12);
  EXPECT_NEAR(clean_threshold(105, 200, 10, 0.75, 0.95), 0.85, 1e-12);
}

}  // namespace
}  // namespace regroup
