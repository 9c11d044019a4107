#include "regroup/methods/unicon.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "regroup/methods/class_selection.h"

namespace regroup {
namespace {

TEST(Unicon, TheDivergenceIsThatOfJensenAndShannonInBits) {
  const at::Tensor p =
      at::tensor({0.7F, 0.2F, 0.1F, 1.0F, 0.0F, 0.0F, 0.0F, 0.25F, 0.75F, 0.3F, 0.3F, 0.4F}).view({4, 3});
  const std::vector<std::int32_t> labels{0, 0, 0, 2};
  const auto divergences = label_divergences(p, labels);
  for (std::int64_t i = 0; i < 4; ++i) {
    double of_p = 0, of_y = 0;
    for (std::int64_t c = 0; c < 3; ++c) {
      const double q = p[i][c].item<double>(), y = labels[static_cast<std::size_t>(i)] == c ? 1 : 0, m = (q + y) / 2;
      if (q > 0) of_p += q * std::log2(q / m);
      if (y > 0) of_y += y * std::log2(y / m);
    }
    EXPECT_NEAR(static_cast<double>(divergences[static_cast<std::size_t>(i)]), (of_p + of_y) / 2, 1e-6);
  }
  EXPECT_EQ(divergences[1], 0) << "the label is certain";
  EXPECT_EQ(divergences[2], 1) << "it is impossible";
}

TEST(Unicon, TheCutIsTheMeanOrLessWhereThatIsHigh) {
  EXPECT_NEAR(divergence_cut(std::vector<float>{0.2F, 0.4F, 0.9F}, 0.7, 5), 0.5, 1e-6);
  EXPECT_NEAR(divergence_cut(std::vector<float>{0.6F, 0.9F, 0.9F}, 0.7, 5), 0.8 - 0.2 / 5, 1e-6);
  EXPECT_EQ(divergence_cut({}, 0.7, 5), 0);
}

TEST(Unicon, EveryClassKeepsTheSameNumberOfLabels) {
  const std::vector<float> divergences{0.1F, 0.2F, 0.3F, 0.4F, 0.9F, 0.8F, 0.7F, 0.6F};
  const std::vector<std::int32_t> labels{0, 0, 0, 0, 1, 1, 1, 1};
  // By the divergence alone all of the easy class would stay, and none of the hard one.
  EXPECT_EQ(smallest_of_each_class(divergences, labels, 2, 2), (std::vector<std::int32_t>{1, 1, 0, 0, 0, 0, 1, 1}));
  const std::vector<std::int32_t> uneven{0, 0, 0, 0, 0, 0, 0, 1};
  EXPECT_EQ(smallest_of_each_class(divergences, uneven, 2, 2), (std::vector<std::int32_t>{1, 1, 0, 0, 0, 0, 0, 1}))
      << "a class that has fewer stays whole";
}

}  // namespace
}  // namespace regroup
