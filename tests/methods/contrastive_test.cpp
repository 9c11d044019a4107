#include "regroup/methods/contrastive.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "regroup/methods/heads.h"

namespace regroup {
namespace {

/// The definition, term by term.
double slow_loss(const at::Tensor& similarities, const at::Tensor& positives, const at::Tensor& candidates,
                 std::int64_t row, double temperature) {
  const auto at = [row](const at::Tensor& x, std::int64_t column) { return x[row][column].item<double>(); };
  double all = 0, sum = 0, count = 0;
  for (std::int64_t k = 0; k < similarities.size(1); ++k)
    if (at(candidates, k) > 0) all += std::exp(at(similarities, k) / temperature);
  for (std::int64_t j = 0; j < similarities.size(1); ++j) {
    if (at(positives, j) == 0) continue;
    sum -= std::log(std::exp(at(similarities, j) / temperature) / all);
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

TEST(Contrastive, IsTheMeanOverThePositivesOfEachAnchor) {
  at::manual_seed(3);
  const at::Tensor similarities = at::rand({5, 7}) * 2 - 1;
  at::Tensor positives = (at::rand({5, 7}) < 0.4).to(at::kFloat);
  positives[2].fill_(0);
  const at::Tensor candidates = at::max((at::rand({5, 7}) < 0.8).to(at::kFloat), positives);
  const at::Tensor losses = contrastive_losses(similarities, positives, candidates, 0.2);
  for (std::int64_t row = 0; row < 5; ++row)
    EXPECT_NEAR(losses[row].item<double>(), slow_loss(similarities, positives, candidates, row, 0.2), 1e-4);
  EXPECT_EQ(losses[2].item<double>(), 0) << "it has no positive";
}

TEST(Contrastive, SimclrPullsTheTwoViewsOfAnImageTogether) {
  at::manual_seed(4);
  const at::Tensor first = unit_rows(at::randn({3, 4})), second = unit_rows(at::randn({3, 4}));
  const at::Tensor all = at::cat({first, second});
  double sum = 0;
  for (std::int64_t i = 0; i < 6; ++i) {
    double others = 0;
    for (std::int64_t k = 0; k < 6; ++k)
      if (k != i) others += std::exp(at::dot(all[i], all[k]).item<double>() / 0.5);
    sum -= std::log(std::exp(at::dot(all[i], all[(i + 3) % 6]).item<double>() / 0.5) / others);
  }
  EXPECT_NEAR(simclr_loss(first, second, 0.5).item<double>(), sum / 6, 1e-5);
  EXPECT_LT(simclr_loss(first, first, 0.5).item<double>(), simclr_loss(first, second, 0.5).item<double>());
}

TEST(Contrastive, AMixtureBelongsToBothOfItsParts) {
  at::manual_seed(5);
  const at::Tensor similarities = at::rand({3, 4}), candidates = at::ones({3, 4});
  const at::Tensor own = at::tensor({1.0F, 0.0F, 0.0F, 1.0F}).repeat({3, 1});
  const at::Tensor of_partner = at::tensor({0.0F, 1.0F, 0.0F, 0.0F}).repeat({3, 1});
  const at::Tensor losses =
      interpolated_losses(similarities, own, of_partner, candidates, at::tensor({0.9F, 0.6F, 1.0F}), 0.3);
  const double shares[] = {0.9, 0.6, 1};
  for (std::int64_t row = 0; row < 3; ++row)
    EXPECT_NEAR(losses[row].item<double>(),
                shares[row] * slow_loss(similarities, own, candidates, row, 0.3) +
                    (1 - shares[row]) * slow_loss(similarities, of_partner, candidates, row, 0.3),
                1e-5);
}

TEST(Contrastive, AMemoryKeepsTheLastRowsAndWhoseTheyAre) {
  EmbeddingMemory memory(5, 2, at::kCPU);
  EXPECT_EQ(memory.slots().size(0), 0);
  const auto push = [&](std::vector<std::int64_t> slots) {
    const at::Tensor numbers = at::tensor(slots, at::kLong);
    memory.push(numbers.to(at::kFloat).unsqueeze(1).repeat({1, 2}), numbers);
  };
  push({1, 2, 3});
  EXPECT_TRUE(at::equal(memory.slots(), at::tensor({1, 2, 3}, at::kLong)));
  push({4, 5, 6});
  EXPECT_TRUE(at::equal(memory.slots(), at::tensor({6, 2, 3, 4, 5}, at::kLong))) << "the oldest is gone";
  EXPECT_TRUE(at::equal(memory.rows().select(1, 1), at::tensor({6.0F, 2.0F, 3.0F, 4.0F, 5.0F})));
}

}  // namespace
}  // namespace regroup
