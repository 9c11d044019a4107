#include "regroup/methods/sel_cl.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "regroup/methods/heads.h"

namespace regroup {
namespace {

TEST(SelCl, TheThresholdOfPairsIsAQuantileOfThoseWithOneLabel) {
  at::manual_seed(2);
  const at::Tensor rows = unit_rows(at::randn({20, 6})), labels = at::arange(20, at::kLong).remainder(3);
  std::vector<double> cosines;
  for (std::int64_t i = 0; i < 20; ++i)
    for (std::int64_t j = 0; j < 20; ++j)
      if (i % 3 == j % 3) cosines.push_back(at::dot(rows[i], rows[j]).item<double>());
  std::sort(cosines.begin(), cosines.end());
  for (const double beta : {0.0, 0.25, 0.6}) {
    const auto place = static_cast<std::size_t>(beta * static_cast<double>(cosines.size() - 1));
    EXPECT_NEAR(pair_threshold(rows, labels, beta), cosines[place], 1e-4) << beta;
  }
}

TEST(SelCl, PairsAreToBePredictedAlike) {
  const at::Tensor likeness = at::tensor({0.9F, 0.3F, 0.2F, 1.0F}).view({2, 2});
  const at::Tensor pairs = at::tensor({1.0F, 0.0F, 1.0F, 1.0F}).view({2, 2});
  const at::Tensor counted = at::tensor({1.0F, 1.0F, 1.0F, 0.0F}).view({2, 2});
  const at::Tensor losses = similarity_losses(likeness, pairs, counted);
  const auto expected = {-std::log(0.9), -std::log(0.7), -std::log(0.2), 0.0};
  std::int64_t i = 0;
  for (const double value : expected) EXPECT_NEAR(losses.flatten()[i++].item<double>(), value, 1e-5);
}

}  // namespace
}  // namespace regroup
