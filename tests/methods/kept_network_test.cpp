#include "regroup/methods/kept_network.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>

namespace regroup {
namespace {

/// By hand: rows that say (0.5, 0.5) and (0.2, 0.8), for the labels 0 and 1.
TEST(KeptNetwork, ScoresAreTheShareOfLabelsThatArePredictedOrTheMeanLoss) {
  const at::Tensor log_p = at::tensor({0.6F, 0.4F, 0.2F, 0.8F, 0.9F, 0.1F}).view({3, 2}).log();
  EXPECT_NEAR(*share_right(log_p, {0, 1, 1}), 2.0 / 3, 1e-6);
  EXPECT_NEAR(*minus_mean_loss(log_p, {0, 1, 1}), (std::log(0.6) + std::log(0.8) + std::log(0.1)) / 3, 1e-6);
  EXPECT_FALSE(share_right(log_p, {}).has_value());
  EXPECT_FALSE(minus_mean_loss(log_p, {}).has_value());
}

std::unique_ptr<Network> make(std::uint32_t start) { return make_network("mlp", {3, 1, 1, 2, 4, true}, 1, start); }

bool same(const Network& a, const Network& b) {
  for (std::size_t i = 0; i < a.parameters().size(); ++i)
    if (!at::equal(a.parameters()[i].tensor, b.parameters()[i].tensor)) return false;
  return true;
}

TEST(KeptNetwork, IsTheOneWithTheHighestScore) {
  KeptNetwork kept(make(0), "best");
  const auto first = make(1), second = make(2);
  kept.offer(*first, -3);
  EXPECT_TRUE(same(kept.network(), *first));
  kept.offer(*second, -4);
  kept.offer(*second, -3);
  EXPECT_TRUE(same(kept.network(), *first)) << "of equal ones the first";
  kept.offer(*second, -2);
  EXPECT_TRUE(same(kept.network(), *second));
  kept.forget_score();
  kept.offer(*first, -5);
  EXPECT_TRUE(same(kept.network(), *first));
  kept.offer(*second, std::nullopt);
  EXPECT_TRUE(same(kept.network(), *second)) << "without scores the last one";
}

TEST(KeptNetwork, ItsStateHasTheNetworkAndTheScore) {
  KeptNetwork kept(make(0), "best"), restored(make(1), "best");
  kept.offer(*make(2), 0.5);
  State saved, filled;
  kept.collect(saved);
  restored.collect(filled);
  ASSERT_EQ(saved.tensors().size(), filled.tensors().size());
  for (std::size_t i = 0; i < saved.tensors().size(); ++i)
    filled.tensors()[i].tensor.detach().copy_(saved.tensors()[i].tensor.detach());
  EXPECT_TRUE(same(restored.network(), kept.network()));
  restored.offer(*make(3), 0.4);
  EXPECT_TRUE(same(restored.network(), kept.network()));
}

}  // namespace
}  // namespace regroup
