#include "regroup/core/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "regroup/core/random.h"
#include "regroup/core/simd.h"
#include "regroup/core/softmax_kernels.h"

namespace regroup {
namespace {

using Floats = std::vector<float>;

Floats random_logits(std::size_t count, float size) {
  Stream stream(1, Purpose::synthetic, 0, static_cast<std::uint32_t>(count));
  Floats logits(count);
  for (float& logit : logits) logit = static_cast<float>(2 * stream.uniform() - 1) * size;
  return logits;
}

TEST(Softmax, IsThatOfTheDefinition) {
  for (const std::size_t count : {2U, 3U, 10U, 16U, 17U, 77U, 100U, 1000U})
    for (const float size : {0.01F, 3.0F, 60.0F}) {
      const Floats logits = random_logits(count, size);
      const std::size_t label = count / 3;
      Floats probabilities(count);
      const LabelScore score = softmax(logits, label, probabilities);
      double sum = 0;
      std::size_t likeliest = 0, other = label == 0 ? 1 : 0;
      for (std::size_t i = 0; i < count; ++i) {
        sum += std::exp(double{logits[i]});
        if (logits[i] > logits[likeliest]) likeliest = i;
        if (i != label && logits[i] > logits[other]) other = i;
      }
      for (std::size_t i = 0; i < count; ++i) {
        const double expected = std::exp(double{logits[i]}) / sum;
        // The difference of two logits is rounded to a float.
        ASSERT_NEAR(double{probabilities[i]}, expected, (1e-6 + 2e-7 * double{size}) * expected + 1e-37)
            << count << " logits, number " << i;
      }
      EXPECT_NEAR(score.loss, std::log(sum) - double{logits[label]}, 1e-5);
      EXPECT_EQ(score.margin, logits[label] - logits[other]);
      EXPECT_EQ(score.likeliest, static_cast<std::int32_t>(likeliest));
    }
}

TEST(Softmax, TakesTheFirstOfEqualLogits) {
  Floats probabilities(4);
  EXPECT_EQ(softmax(Floats{1, 3, 3, 3}, 2, probabilities).likeliest, 1);
  EXPECT_EQ(softmax(Floats{1, 3, 3, 3}, 1, probabilities).likeliest, 1);
  EXPECT_EQ(softmax(Floats{3, 3, 3, 3}, 3, probabilities).likeliest, 0);
  EXPECT_EQ(probabilities, Floats(4, 0.25F));
}

TEST(Softmax, HasNoLossBelowZeroHoweverSureItIs) {
  Floats probabilities(3);
  const LabelScore score = softmax(Floats{500, -500, 0}, 0, probabilities);
  EXPECT_EQ(score.loss, 0);
  EXPECT_EQ(probabilities, (Floats{1, 0, 0}));
  EXPECT_EQ(softmax(Floats{500, -500, 0}, 1, probabilities).loss, 1000);
}

TEST(Softmax, ShowsWhatIsNotFinite) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Floats probabilities(3);
  EXPECT_TRUE(std::isnan(softmax(Floats{0, std::nanf(""), 1}, 0, probabilities).loss));
  EXPECT_TRUE(std::isnan(softmax(Floats{0, infinity, 1}, 1, probabilities).loss));
  EXPECT_EQ(softmax(Floats{0, -infinity, 0}, 1, probabilities).loss, infinity);
  EXPECT_EQ(probabilities, (Floats{0.5F, 0, 0.5F}));
}

TEST(Softmax, HasTheGradientOfTheCrossEntropy) {
  Floats gradient(3);
  cross_entropy_gradient(Floats{0.5F, 0.25F, 0.25F}, 1, 2, gradient);
  EXPECT_EQ(gradient, (Floats{1, -1.5F, 0.5F}));
}

TEST(Softmax, RefusesSizesThatDiffer) {
  Floats three(3);
  EXPECT_THROW(softmax(Floats{1}, 0, std::span(three).first(1)), std::invalid_argument);
  EXPECT_THROW(softmax(Floats{1, 2}, 0, three), std::invalid_argument);
  EXPECT_THROW(softmax(Floats{1, 2, 3}, 3, three), std::invalid_argument);
  EXPECT_THROW(cross_entropy_gradient(Floats{1, 2}, 0, 1, three), std::invalid_argument);
}

#if defined(__x86_64__)
TEST(SoftmaxKernels, GiveTheSameBitsOnEveryProcessor) {
  if (!cpu_has_avx2()) GTEST_SKIP() << "this processor has no AVX2";
  const auto check = [](auto kernel) {
    for (const std::size_t count : {2U, 17U, 100U}) {
      const Floats logits = random_logits(count, 20);
      Floats expected(count), found(count);
      const SoftmaxSums sums = baseline::softmax_row(logits.data(), count, 1, expected.data());
      const SoftmaxSums others = kernel(logits.data(), count, 1, found.data());
      EXPECT_EQ(found, expected);
      EXPECT_EQ(others.sum, sums.sum);
      EXPECT_EQ(others.largest_other, sums.largest_other);
      EXPECT_EQ(others.where_other, sums.where_other);
    }
  };
  check(avx2::softmax_row);
  if (cpu_has_avx512_bf16()) check(avx512::softmax_row);
}
#endif

}  // namespace
}  // namespace regroup
