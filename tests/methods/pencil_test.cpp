#include "regroup/methods/pencil.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "methods/rows.h"

namespace regroup {
namespace {

TEST(Pencil, TheDivergenceIsOfTheLabelFromThePrediction) {
  const std::vector<double> p{0.7, 0.2, 0.1}, label{0.5, 0.1, 0.4};
  const at::Tensor logits = at::tensor(p, at::kDouble).log().unsqueeze(0);
  const at::Tensor t = at::tensor(label, at::kDouble).log().unsqueeze(0) + 3;  // logits have no origin
  double expected = 0;
  for (std::size_t k = 0; k < p.size(); ++k) expected += p[k] * std::log(p[k] / label[k]);
  EXPECT_NEAR(classification_divergence(logits, t)[0].item<double>(), expected, 1e-12);
}

/// d KL / dt_k = softmax(t)_k - p_k: a step down moves a label towards what the network says.
TEST(Pencil, LabelsMoveTowardsThePrediction) {
  const at::Tensor p = rows_of({{0.7, 0.2, 0.1}});
  at::Tensor t = rows_of({{0.0, 2.0, 1.0}});
  t.requires_grad_(true);
  classification_divergence(p.log(), t).sum().backward();
  EXPECT_TRUE(t.grad().allclose(at::softmax(t.detach(), 1) - p));
}

}  // namespace
}  // namespace regroup
