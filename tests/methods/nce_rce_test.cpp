#include "regroup/methods/nce_rce.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace regroup {
namespace {

TEST(NceRce, NormalisedCrossEntropyIsAShareOfThatOfAllClasses) {
  const std::vector<double> p{0.6, 0.3, 0.1};
  const at::Tensor losses = normalised_cross_entropy(at::tensor(p, at::kDouble).log().unsqueeze(0));
  const double all = std::log(0.6) + std::log(0.3) + std::log(0.1);
  for (std::size_t label = 0; label < p.size(); ++label)
    EXPECT_NEAR(losses[0][static_cast<std::int64_t>(label)].item<double>(), std::log(p[label]) / all, 1e-12);
  EXPECT_NEAR(losses.sum().item<double>(), 1, 1e-12) << "so that no sample's loss can be more than 1";
}

}  // namespace
}  // namespace regroup
