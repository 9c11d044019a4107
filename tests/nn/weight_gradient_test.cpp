#include "regroup/nn/weight_gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <random>
#include <stdexcept>
#include <vector>

#include "nn/test_workers.h"

namespace regroup {

std::ostream& operator<<(std::ostream& out, const ConvolutionShape& s) {
  return out << s.images << " images " << s.height << "x" << s.width << ", " << s.in << " to " << s.out
             << " channels, kernel " << s.kernel << ", stride " << s.stride << ", padding " << s.padding;
}

namespace {

using Halves = std::vector<std::uint16_t>;

/// Numbers from -1 to 1 that bf16 can hold.
Halves random_halves(std::size_t count, std::uint32_t seed) {
  std::mt19937 generator(seed);
  Halves values(count);
  for (auto& value : values)
    value =
        static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(generator()) * 0x1p-31F - 1) >> 16);
  return values;
}

double value_of(std::uint16_t half) { return double{std::bit_cast<float>(std::uint32_t{half} << 16)}; }

std::size_t inputs(const ConvolutionShape& s) { return s.images * s.height * s.width * s.in; }
std::size_t outputs(const ConvolutionShape& s) { return s.images * s.out_height() * s.out_width() * s.out; }
std::size_t weights(const ConvolutionShape& s) { return s.out * s.kernel * s.kernel * s.in; }

/// By its definition.
std::vector<double> direct(const ConvolutionShape& s, const Halves& x, const Halves& dy) {
  std::vector<double> dw(weights(s));
  for (std::size_t image = 0; image < s.images; ++image)
    for (std::size_t row = 0; row < s.out_height(); ++row)
      for (std::size_t column = 0; column < s.out_width(); ++column)
        for (std::size_t tap = 0; tap < s.kernel * s.kernel; ++tap) {
          const std::size_t from_row = row * s.stride + tap / s.kernel - s.padding,
                            from_column = column * s.stride + tap % s.kernel - s.padding;
          if (from_row >= s.height || from_column >= s.width) continue;
          for (std::size_t k = 0; k < s.out; ++k)
            for (std::size_t c = 0; c < s.in; ++c)
              dw[(k * s.kernel * s.kernel + tap) * s.in + c] +=
                  value_of(x[((image * s.height + from_row) * s.width + from_column) * s.in + c]) *
                  value_of(dy[((image * s.out_height() + row) * s.out_width() + column) * s.out + k]);
        }
  return dw;
}

/// The result begins as NaN, so that what is not written is seen.
std::vector<float> fast(const ConvolutionShape& s, const Halves& x, const Halves& dy, const Workers& workers) {
  std::vector<float> dw(weights(s), std::numeric_limits<float>::quiet_NaN());
  WeightGradientScratch scratch;
  compute_weight_gradient(s, x, dy, dw, scratch, workers);
  return dw;
}

class WeightGradient : public testing::TestWithParam<ConvolutionShape> {
 protected:
  void SetUp() override {
    if (!weight_gradient_available()) GTEST_SKIP() << "this processor has no bf16 in AVX-512";
  }
};

TEST_P(WeightGradient, IsThatOfTheDefinition) {
  const ConvolutionShape s = GetParam();
  const Halves x = random_halves(inputs(s), 1), dy = random_halves(outputs(s), 2);
  const std::vector<double> expected = direct(s, x, dy);
  const std::vector<float> found = fast(s, x, dy, one_by_one());
  double largest = 0;  // the sums are up to 23,616 products long
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(double{found[i]}, expected[i], 5e-6 * largest) << "weight " << i;
}

TEST_P(WeightGradient, HasTheSameBitsOnAnyNumberOfThreads) {
  const ConvolutionShape s = GetParam();
  const Halves x = random_halves(inputs(s), 1), dy = random_halves(outputs(s), 2);
  const std::vector<float> one = fast(s, x, dy, one_by_one());
  for (const std::size_t count : {2U, 5U}) EXPECT_EQ(fast(s, x, dy, threads(count)), one);
}

INSTANTIATE_TEST_SUITE_P(Shapes, WeightGradient,
                         testing::Values(ConvolutionShape{1, 1, 1, 16, 16, 3, 1, 1},     // one image of one pixel
                                         ConvolutionShape{2, 5, 4, 16, 32, 3, 1, 1},     // one pair
                                         ConvolutionShape{7, 6, 9, 48, 16, 3, 1, 1},     // an image without a partner
                                         ConvolutionShape{4, 8, 8, 32, 32, 3, 2, 1},     // a stride
                                         ConvolutionShape{3, 9, 7, 16, 48, 3, 2, 1},     // that does not come out even
                                         ConvolutionShape{5, 6, 6, 32, 16, 1, 1, 0},     // kernels of one pixel
                                         ConvolutionShape{6, 8, 5, 16, 32, 1, 2, 0},     // with a stride
                                         ConvolutionShape{3, 8, 8, 16, 16, 5, 1, 0},     // no padding
                                         ConvolutionShape{3, 4, 4, 16, 16, 7, 3, 5},     // taps that meet nothing
                                         ConvolutionShape{90, 10, 10, 16, 16, 3, 1, 1},  // parts of several blocks
                                         ConvolutionShape{5, 4, 4, 64, 48, 3, 1, 1},     // sums that are shared
                                         ConvolutionShape{41, 24, 24, 48, 64, 1, 1, 0}   // and in several blocks
                                         ));

TEST(WeightGradientSizes, AreChecked) {
  ConvolutionShape shape{2, 4, 4, 16, 32, 3, 1, 1};
  Halves x(inputs(shape)), dy(outputs(shape));
  std::vector<float> dw(weights(shape));
  const auto fails = [&] {
    WeightGradientScratch scratch;
    EXPECT_THROW(compute_weight_gradient(shape, x, dy, dw, scratch, one_by_one()), std::invalid_argument);
  };
  shape.in = 8;
  fails();
  shape = {2, 4, 4, 16, 32, 7, 1, 1};
  fails();
  shape = {0, 4, 4, 16, 32, 3, 1, 1};
  fails();
  shape = {3, 4, 4, 16, 32, 3, 1, 1};
  fails();
  shape = {2, 4, 4, 16, 32, 3, 1, 1};
  dw.pop_back();
  fails();
}

TEST(WeightGradientPossible, WithWholeVectorsOfChannels) {
  EXPECT_TRUE(weight_gradient_possible({128, 32, 32, 16, 16, 3, 1, 1}));
  EXPECT_FALSE(weight_gradient_possible({128, 32, 32, 3, 16, 3, 1, 1}));
  EXPECT_FALSE(weight_gradient_possible({128, 32, 32, 16, 24, 3, 1, 1}));
  EXPECT_FALSE(weight_gradient_possible({128, 2, 2, 16, 16, 3, 1, 0}));
}

}  // namespace
}  // namespace regroup
