#include "regroup/methods/neighbours.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "regroup/core/random.h"

namespace regroup {
namespace {

std::vector<std::vector<float>> random_rows(int count, int size) {
  Stream random(5, Purpose::synthetic);
  std::vector<std::vector<float>> rows(static_cast<std::size_t>(count));
  for (auto& row : rows)
    for (int i = 0; i < size; ++i) row.push_back(static_cast<float>(random.normal()));
  return rows;
}

at::Tensor tensor_of(const std::vector<std::vector<float>>& rows) {
  std::vector<at::Tensor> tensors;
  for (const auto& row : rows) tensors.push_back(at::tensor(row));
  return at::stack(tensors);
}

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  const auto dot = [](const auto& x, const auto& y) { return std::inner_product(x.begin(), x.end(), y.begin(), 0.0); };
  return dot(a, b) / std::sqrt(dot(a, a) * dot(b, b));
}

TEST(Neighbours, AreThoseThatASortFinds) {
  const auto rows = random_rows(60, 5);
  // Seven rows at a time, the last block being a smaller one.
  const at::Tensor found = nearest_rows(tensor_of(rows), 7, Itself::is_none, 7 * 60);
  ASSERT_EQ(found.sizes(), (std::vector<std::int64_t>{60, 7}));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::size_t> others(rows.size());
    std::iota(others.begin(), others.end(), 0U);
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    std::sort(others.begin(), others.end(),
              [&](std::size_t a, std::size_t b) { return cosine(rows[i], rows[a]) > cosine(rows[i], rows[b]); });
    for (std::size_t k = 0; k < 7; ++k)
      EXPECT_EQ(found[static_cast<std::int64_t>(i)][static_cast<std::int64_t>(k)].item<std::int64_t>(),
                static_cast<std::int64_t>(others[k]));
  }
}

TEST(Neighbours, ARowIsItsOwnNearestOrNone) {
  const at::Tensor rows = tensor_of(random_rows(9, 4)), numbers = at::arange(9, at::kLong);
  const at::Tensor with = nearest_rows(rows, 50, Itself::is_a_neighbour);
  EXPECT_EQ(with.size(1), 9) << "there are no more";
  EXPECT_TRUE(at::equal(with.select(1, 0), numbers));
  const at::Tensor without = nearest_rows(rows, 50, Itself::is_none);
  EXPECT_EQ(without.size(1), 8);
  EXPECT_FALSE((without == numbers.unsqueeze(1)).any().item<bool>());
}

TEST(Neighbours, VoteWithTheirLabels) {
  const at::Tensor neighbours = at::tensor({0, 1, 2, 3, 3, 3}, at::kLong).view({2, 3});
  const at::Tensor votes = neighbour_votes(neighbours, at::tensor({2, 0, 2, 1}, at::kLong), 3);
  EXPECT_TRUE(at::equal(votes, at::tensor({1.0F, 0.0F, 2.0F, 0.0F, 3.0F, 0.0F}).view({2, 3})));
}

/// Five samples of a ring with one wrong label among those of class 0.
TEST(Neighbours, VoteAgainWithWhatTheyWereVotedToBe) {
  const at::Tensor neighbours = at::tensor({1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2}, at::kLong).view({4, 3});
  const at::Tensor labels = at::tensor({0, 0, 0, 1}, at::kLong);
  // The first vote makes all of them class 0.
  EXPECT_TRUE(at::allclose(corrected_votes(neighbours, labels, 2), at::tensor({1.0F, 0.0F}).expand({4, 2})));
}

TEST(Neighbours, OfEachClassTheSameNumberOfLabelsIsBelieved) {
  // Agreeing: 3 of class 0, 1 of class 1, 2 of class 2.
  const std::vector<std::int32_t> labels{0, 0, 0, 0, 1, 1, 1, 2, 2, 2};
  const at::Tensor p =
      at::tensor({0.9F, 0.1F, 0.0F, 0.6F, 0.4F, 0.0F, 0.7F, 0.3F, 0.0F, 0.1F, 0.9F, 0.0F, 0.2F, 0.8F, 0.0F,
                  0.7F, 0.3F, 0.0F, 0.6F, 0.4F, 0.0F, 0.0F, 0.1F, 0.9F, 0.0F, 0.4F, 0.6F, 0.0F, 0.9F, 0.1F})
          .view({10, 3});
  using Marks = std::vector<std::int32_t>;
  EXPECT_EQ(select_balanced(p, labels, 0.5), (Marks{1, 0, 1, 0, 1, 0, 1, 1, 1, 0})) << "two of each, the median";
  EXPECT_EQ(select_balanced(p, labels, 0), (Marks{1, 0, 0, 0, 1, 0, 0, 1, 0, 0}));
  EXPECT_EQ(select_balanced(p, labels, 1), (Marks{1, 1, 1, 0, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(select_balanced(p, labels, 0.75), (Marks{1, 0, 1, 0, 1, 0, 1, 1, 1, 0})) << "2.5, rounded down";
}

TEST(Neighbours, OfTwoMiddleClassesTheMedianIsTheLower) {
  // Agreeing: 2 of class 0, 1 of class 1.
  const at::Tensor p = at::tensor({0.9F, 0.1F, 0.8F, 0.2F, 0.1F, 0.9F, 0.6F, 0.4F}).view({4, 2});
  EXPECT_EQ(select_balanced(p, std::vector<std::int32_t>{0, 0, 1, 1}, 0.5), (std::vector<std::int32_t>{1, 0, 1, 0}));
}

}  // namespace
}  // namespace regroup
