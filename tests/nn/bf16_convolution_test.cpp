#include "regroup/nn/kernels/bf16_convolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <random>
#include <span>
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

constexpr std::uint16_t one = 0x3f80;

double value_of(std::uint16_t half) { return double{std::bit_cast<float>(std::uint32_t{half} << 16)}; }

std::size_t inputs(const ConvolutionShape& s) { return s.images * s.height * s.width * s.in; }
std::size_t outputs(const ConvolutionShape& s) { return s.images * s.out_height() * s.out_width() * s.out; }
std::size_t weights(const ConvolutionShape& s) { return s.out * s.kernel * s.kernel * s.in; }

/// Calls body(x, y, w) with the places of the values that meet.
template <class Body>
void for_each_meeting(const ConvolutionShape& s, const Body& body) {
  for (std::size_t image = 0; image < s.images; ++image)
    for (std::size_t row = 0; row < s.out_height(); ++row)
      for (std::size_t column = 0; column < s.out_width(); ++column)
        for (std::size_t tap = 0; tap < s.kernel * s.kernel; ++tap) {
          const std::size_t from_row = row * s.stride + tap / s.kernel - s.padding,
                            from_column = column * s.stride + tap % s.kernel - s.padding;
          if (from_row >= s.height || from_column >= s.width) continue;
          for (std::size_t k = 0; k < s.out; ++k)
            for (std::size_t c = 0; c < s.in; ++c)
              body(((image * s.height + from_row) * s.width + from_column) * s.in + c,
                   ((image * s.out_height() + row) * s.out_width() + column) * s.out + k,
                   (k * s.kernel * s.kernel + tap) * s.in + c);
        }
}

/// A product of the definition, and how large its terms are in all.
struct Exact {
  explicit Exact(std::size_t size) : sums(size), sizes(size) {}

  void add(std::size_t place, std::uint16_t a, std::uint16_t b) {
    sums[place] += value_of(a) * value_of(b);
    sizes[place] += std::abs(value_of(a) * value_of(b));
  }

  std::vector<double> sums, sizes;
};

/// Values, and the products of them by the definition and by our own code. Results begin as NaN, so that what is not
/// written is seen.
struct Products {
  explicit Products(const ConvolutionShape& shape) : s(shape) {}

  Exact exact_y() const {
    Exact y(outputs(s));
    for_each_meeting(s, [&](std::size_t i, std::size_t o, std::size_t k) { y.add(o, x[i], w[k]); });
    return y;
  }
  Exact exact_dx() const {
    Exact dx(inputs(s));
    for_each_meeting(s, [&](std::size_t i, std::size_t o, std::size_t k) { dx.add(i, dy[o], w[k]); });
    return dx;
  }
  Exact exact_dw() const {
    Exact dw(weights(s));
    for_each_meeting(s, [&](std::size_t i, std::size_t o, std::size_t k) { dw.add(k, x[i], dy[o]); });
    return dw;
  }

  Halves y(const Workers& workers) const {
    Halves result(outputs(s), nan);
    bf16_forward(s, x, w, result, scratch, workers);
    return result;
  }
  Halves dx(const Workers& workers) const {
    Halves result(inputs(s), nan);
    bf16_backward_data(s, dy, w, {}, result, scratch, workers);
    return result;
  }
  std::vector<float> dw(const Workers& workers) const {
    std::vector<float> result(weights(s), std::numeric_limits<float>::quiet_NaN());
    bf16_backward_weights(s, x, dy, result, scratch, workers);
    return result;
  }

  static constexpr std::uint16_t nan = 0x7fc0;
  ConvolutionShape s;
  Halves x = random_halves(inputs(s), 1), dy = random_halves(outputs(s), 2), w = random_halves(weights(s), 3);
  mutable Bf16Scratch scratch;
};

/// Rounded once, from a sum in fp32.
void expect_rounded(const Halves& found, const Exact& exact) {
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(value_of(found[i]), exact.sums[i], 0x1p-8 * std::abs(exact.sums[i]) + 1e-6 * exact.sizes[i]) << i;
}

const std::vector<ConvolutionShape> shapes = {
    {1, 1, 1, 16, 16, 3, 1, 1},      // one image of one pixel
    {2, 5, 4, 16, 32, 3, 1, 1},      // one pair of images
    {7, 6, 9, 48, 16, 3, 1, 1},      // an image without a partner
    {4, 8, 8, 32, 32, 3, 2, 1},      // a stride
    {3, 9, 7, 16, 48, 3, 2, 1},      // that does not come out even
    {2, 3, 32, 16, 16, 3, 1, 1},     // two tiles a row
    {1, 5, 24, 32, 64, 3, 1, 1},     // three wide ones
    {2, 6, 32, 16, 32, 3, 2, 1},     // tiles of every other pixel
    {1, 4, 16, 64, 64, 3, 1, 0},     // rows of tiles one way, not the other
    {19, 4, 4, 32, 32, 3, 1, 1},     // tiles of images, and images that are left
    {37, 3, 5, 16, 16, 3, 1, 1},     // narrow ones
    {5, 6, 6, 32, 16, 1, 1, 0},      // kernels of one pixel
    {6, 8, 5, 16, 32, 1, 2, 0},      // with a stride
    {2, 4, 32, 16, 32, 1, 2, 0},     // and in rows, where every other pixel is zero
    {3, 8, 8, 16, 16, 5, 1, 0},      // no padding
    {2, 4, 16, 16, 16, 5, 1, 2},     // two pixels beyond the border
    {3, 4, 4, 16, 16, 7, 3, 5},      // taps that meet nothing
    {90, 10, 10, 16, 16, 3, 1, 1},   // weights: parts of several pairs
    {90, 32, 32, 16, 16, 1, 1, 0},   // and of several blocks
    {5, 4, 4, 64, 80, 3, 1, 1},      // sums that are shared
    {22, 24, 24, 32, 144, 1, 1, 0},  // and in several blocks
};

/// Each with all shapes: a program of its own for each of them would take far longer to start than to run.
class Bf16Convolution : public testing::Test {
 protected:
  void SetUp() override {
    if (!bf16_convolution_available()) GTEST_SKIP() << "this processor has no bf16 in AVX-512";
  }

  template <class Body>
  static void for_each_shape(const Body& body) {
    for (const ConvolutionShape& shape : shapes) {
      SCOPED_TRACE(testing::Message() << shape);
      body(shape);
    }
  }
};

TEST_F(Bf16Convolution, IsThatOfTheDefinition) {
  for_each_shape([](const ConvolutionShape& shape) {
    const Products products(shape);
    expect_rounded(products.y(one_by_one()), products.exact_y());
  });
}

TEST_F(Bf16Convolution, HasTheGradientOfTheImages) {
  for_each_shape([](const ConvolutionShape& shape) {
    const Products products(shape);
    expect_rounded(products.dx(one_by_one()), products.exact_dx());
  });
}

TEST_F(Bf16Convolution, AddsAnotherGradientOfTheImages) {
  for_each_shape([](const ConvolutionShape& shape) {
    const Products products(shape);
    const Halves addend = random_halves(inputs(products.s), 4);
    Exact expected = products.exact_dx();
    for (std::size_t i = 0; i < addend.size(); ++i) expected.add(i, addend[i], one);
    Halves found(addend.size(), Products::nan);
    bf16_backward_data(products.s, products.dy, products.w, addend, found, products.scratch, one_by_one());
    expect_rounded(found, expected);
  });
}

TEST_F(Bf16Convolution, HasTheGradientOfTheWeights) {
  for_each_shape([](const ConvolutionShape& shape) {
    const Products products(shape);
    const Exact expected = products.exact_dw();
    const std::vector<float> found = products.dw(one_by_one());
    double largest = 0;  // the sums are up to 92,160 products long
    for (const double value : expected.sums) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_NEAR(double{found[i]}, expected.sums[i], 5e-6 * largest) << "weight " << i;
  });
}

TEST_F(Bf16Convolution, HasTheSameBitsOnAnyNumberOfThreads) {
  for_each_shape([](const ConvolutionShape& shape) {
    const Products products(shape);
    for (const std::size_t count : {2U, 5U}) {
      EXPECT_EQ(products.y(threads(count)), products.y(one_by_one()));
      EXPECT_EQ(products.dx(threads(count)), products.dx(one_by_one()));
      EXPECT_EQ(products.dw(threads(count)), products.dw(one_by_one()));
    }
  });
}

TEST_F(Bf16Convolution, OfAnImageDoesNotDependOnTheOthers) {
  for_each_shape([](const ConvolutionShape& shape) {
    const Products together(shape);
    Products alone(shape);
    const std::size_t last = together.s.images - 1;
    alone.s.images = 1;
    alone.x.erase(alone.x.begin(), alone.x.begin() + static_cast<std::ptrdiff_t>(last * inputs(alone.s)));
    const Halves all = together.y(one_by_one()), its = alone.y(one_by_one());
    EXPECT_TRUE(std::equal(its.begin(), its.end(), all.end() - static_cast<std::ptrdiff_t>(its.size())));
  });
}

TEST(Bf16ConvolutionSizes, AreChecked) {
  const auto fails = [](const ConvolutionShape& shape, const Products& products, std::size_t weight_count) {
    Halves y(products.dy), dx(products.x);
    const std::span w = std::span(products.w).first(weight_count);
    std::vector<float> dw(weight_count);
    Bf16Scratch scratch;
    EXPECT_THROW(bf16_forward(shape, products.x, w, y, scratch, one_by_one()), std::invalid_argument);
    EXPECT_THROW(bf16_backward_data(shape, products.dy, w, {}, dx, scratch, one_by_one()), std::invalid_argument);
    EXPECT_THROW(bf16_backward_weights(shape, products.x, products.dy, dw, scratch, one_by_one()),
                 std::invalid_argument);
  };
  const ConvolutionShape shape{2, 4, 4, 16, 32, 3, 1, 1};
  const Products products(shape);
  fails({2, 4, 4, 8, 32, 3, 1, 1}, products, weights(shape));
  fails({2, 4, 4, 16, 32, 7, 1, 1}, products, weights(shape));
  fails({0, 4, 4, 16, 32, 3, 1, 1}, products, weights(shape));
  fails({3, 4, 4, 16, 32, 3, 1, 1}, products, weights(shape));
  fails(shape, products, weights(shape) - 1);
  Halves dx(products.x);
  Bf16Scratch scratch;
  EXPECT_THROW(bf16_backward_data(shape, products.dy, products.w, std::span(dx).subspan(1), dx, scratch, one_by_one()),
               std::invalid_argument);
}

TEST(Bf16ConvolutionPossible, WithWholeVectorsOfChannels) {
  EXPECT_TRUE(bf16_convolution_possible({128, 32, 32, 16, 16, 3, 1, 1}));
  EXPECT_FALSE(bf16_convolution_possible({128, 32, 32, 3, 16, 3, 1, 1}));
  EXPECT_FALSE(bf16_convolution_possible({128, 32, 32, 16, 24, 3, 1, 1}));
  EXPECT_FALSE(bf16_convolution_possible({128, 2, 2, 16, 16, 3, 1, 0}));
}

}  // namespace
}  // namespace regroup
