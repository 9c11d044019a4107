#include "regroup/methods/sop.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace regroup {
namespace {

at::Tensor row(const std::vector<double>& values) { return at::tensor(values, at::kDouble).unsqueeze(0); }

const std::vector<double> p{0.6, 0.3, 0.1}, y{0, 1, 0};

TEST(Sop, TheLabelLosesAndOtherClassesGain) {
  const LabelOffset s = label_offset(row({0.5}), row({0.2, 0.3, 2}), row(y));
  EXPECT_TRUE(s.own.allclose(row({0, 0.25, 0})));
  EXPECT_TRUE(s.others.allclose(row({0.04, 0, 1}))) << "at most 1";
}

TEST(Sop, TheCrossEntropyIsOfTheSumBoundedAndNormalised) {
  const LabelOffset s = label_offset(row({0.5}), row({0.2, 0, 2}), row(y));
  const std::vector<double> sum{0.6 - 0.04, 0.3 + 0.25, 1e-4};  // 0.1 - 1 is under the bound
  const double expected = -std::log(sum[1] / (sum[0] + sum[1] + sum[2]));
  EXPECT_NEAR(offset_cross_entropy(row(p).log(), s, row(y))[0].item<double>(), expected, 1e-9);
}

TEST(Sop, TheErrorIsThatOfTheLikeliestClass) {
  const LabelOffset s = label_offset(row({0.5}), row({0.2, 0, 0.1}), row(y));
  // onehot(0) + s - y
  const double expected = std::pow(1 - 0.04, 2) + std::pow(0.25 - 1, 2) + std::pow(0 - 0.01, 2);
  EXPECT_NEAR(offset_error(row(p).log(), s, row(y))[0].item<double>(), expected, 1e-12);
}

TEST(Sop, CrossEntropyTeachesTheNetworkAndUButNotV) {
  at::Tensor u = row({0.5}), v = row({0.2, 0.1, 0.3}), logits = row(p).log();
  for (at::Tensor* tensor : {&u, &v, &logits}) tensor->requires_grad_(true);
  offset_cross_entropy(logits, label_offset(u, v, row(y)), row(y)).sum().backward();
  EXPECT_NE(u.grad().abs().max().item<double>(), 0);
  EXPECT_NE(logits.grad().abs().max().item<double>(), 0);
  EXPECT_FALSE(v.grad().defined());
  offset_error(logits, label_offset(u, v, row(y)), row(y)).sum().backward();
  EXPECT_NE(v.grad().abs().max().item<double>(), 0);
}

}  // namespace
}  // namespace regroup
