#include "regroup/train/evaluate.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "regroup/core/random.h"

namespace regroup {
namespace {

/// By sorting the classes of each image; the sort keeps the order of equally likely ones.
double slow_top_accuracy(const at::Tensor& probabilities, const std::vector<std::int32_t>& labels, int count) {
  double right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const at::Tensor row = probabilities[static_cast<std::int64_t>(i)];
    std::vector<std::int32_t> order(static_cast<std::size_t>(row.size(0)));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater<>(), [&](std::int32_t y) { return row[y].item<float>(); });
    right += std::find(order.begin(), order.begin() + count, labels[i]) != order.begin() + count ? 1 : 0;
  }
  return right / static_cast<double>(labels.size());
}

TEST(Evaluate, TheTopFiveAreTheFirstOfTheSortedClasses) {
  constexpr std::int64_t images = 200, classes = 12;
  Stream random(3, Purpose::synthetic);
  at::Tensor probabilities = at::empty({images, classes});
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < images; ++i) {
    labels.push_back(static_cast<std::int32_t>(random.below(classes)));
    // Few values, so that many are equally likely.
    for (std::int64_t y = 0; y < classes; ++y) probabilities[i][y] = static_cast<float>(random.below(6));
  }
  for (const int count : {1, 5, 12})
    EXPECT_EQ(top_accuracy(probabilities, labels, count), slow_top_accuracy(probabilities, labels, count)) << count;
  EXPECT_EQ(top_accuracy(probabilities, labels, 1), accuracy(most_likely(probabilities), labels));
  EXPECT_TRUE(std::isnan(top_accuracy(at::empty({0, 3}), {}, 5)));
}

}  // namespace
}  // namespace regroup
