#include "regroup/methods/ncr.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "methods/rows.h"

namespace regroup {
namespace {

using Rows = std::vector<std::vector<double>>;

double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  const auto dot = [](const auto& x, const auto& z) { return std::inner_product(x.begin(), x.end(), z.begin(), 0.0); };
  return dot(a, b) / std::sqrt(dot(a, a) * dot(b, b));
}

/// Row by row, neighbour by neighbour.
Rows slow_shares(const Rows& features, std::size_t count) {
  Rows shares;
  for (std::size_t i = 0; i < features.size(); ++i) {
    std::vector<std::pair<double, std::size_t>> others;
    for (std::size_t j = 0; j < features.size(); ++j)
      if (j != i) others.emplace_back(cosine(features[i], features[j]), j);
    std::sort(others.rbegin(), others.rend());
    others.resize(std::min(count, others.size()));
    double sum = 0;
    for (const auto& other : others) sum += std::max(0.0, other.first);
    shares.emplace_back(features.size());
    for (const auto& other : others) shares[i][other.second] = std::max(0.0, other.first) / sum;
  }
  return shares;
}

const Rows features{{1, 0.2, 0}, {0.9, 0.1, 0.3}, {0, 1, 0.1}, {-1, 0.1, 0.4}, {0.2, 0.8, 0.9}};
const Rows logits{{2, 0, -1}, {1, 1, 0}, {0, 3, 0}, {-1, 0, 2}, {0.5, 0.1, 0.2}};

TEST(Ncr, NeighboursShareByTheirCosine) {
  for (const int count : {1, 2, 3, 100})
    EXPECT_TRUE(neighbour_shares(rows_of(features), count)
                    .allclose(rows_of(slow_shares(features, static_cast<std::size_t>(count)))))
        << count;
}

TEST(Ncr, ARowThatIsLikeNoOtherListensToNobody) {
  const at::Tensor shares = neighbour_shares(rows_of({{1, 0}, {-1, 0}}), 1);
  EXPECT_EQ(shares.abs().max().item<double>(), 0);
  EXPECT_EQ(neighbour_divergence(rows_of({{1, 0}, {0, 1}}), shares, 2).abs().max().item<double>(), 0);
}

TEST(Ncr, TheDivergenceIsFromWhatNeighboursSay) {
  const double temperature = 2;
  const Rows shares = slow_shares(features, 3);
  const auto softmax = [&](const std::vector<double>& row) {
    std::vector<double> p;
    for (const double z : row) p.push_back(std::exp(z / temperature));
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& value : p) value /= sum;
    return p;
  };
  const at::Tensor found = neighbour_divergence(rows_of(logits), rows_of(shares), temperature);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    std::vector<double> said(3);
    for (std::size_t j = 0; j < logits.size(); ++j)
      for (std::size_t k = 0; k < 3; ++k) said[k] += shares[i][j] * softmax(logits[j])[k];
    double expected = 0;
    for (std::size_t k = 0; k < 3; ++k) expected += said[k] * std::log(said[k] / softmax(logits[i])[k]);
    EXPECT_NEAR(found[static_cast<std::int64_t>(i)].item<double>(), temperature * temperature * expected, 1e-9);
  }
}

}  // namespace
}  // namespace regroup
