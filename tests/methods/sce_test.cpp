#include "regroup/methods/sce.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace regroup {
namespace {

/// By its definition: label and prediction exchange their places in cross-entropy, and log 0 is A.
TEST(Sce, ReverseCrossEntropyIsThatOfTheLabelByThePrediction) {
  const std::vector<double> p{0.7, 0.2, 0.1};
  const double log_zero = -4;
  const at::Tensor losses = reverse_cross_entropy(at::tensor(p, at::kDouble).log().unsqueeze(0), log_zero);
  for (std::size_t label = 0; label < p.size(); ++label) {
    double expected = 0;
    for (std::size_t k = 0; k < p.size(); ++k) expected -= p[k] * (k == label ? 0 : log_zero);
    EXPECT_NEAR(losses[0][static_cast<std::int64_t>(label)].item<double>(), expected, 1e-12);
  }
}

}  // namespace
}  // namespace regroup
