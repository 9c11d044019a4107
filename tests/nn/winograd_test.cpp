#include "regroup/nn/kernels/winograd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <ostream>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "nn/test_workers.h"

namespace regroup {

std::ostream& operator<<(std::ostream& out, const WinogradShape& s) {
  return out << s.images << " images " << s.height << "x" << s.width << ", " << s.in << " to " << s.out << " channels";
}

namespace {

using Values = std::vector<float>;

Values random_values(std::size_t count, std::uint32_t seed) {
  std::mt19937 generator(seed);
  Values values(count);
  for (float& value : values) value = static_cast<float>(generator()) * 0x1p-31F - 1;
  return values;
}

std::size_t pixels(const WinogradShape& s) { return s.images * s.height * s.width; }

/// Calls body(output pixel, input pixel, tap) for all that meet in the convolution.
template <class Body>
void for_each_meeting(const WinogradShape& s, const Body& body) {
  for (std::size_t image = 0; image < s.images; ++image)
    for (std::size_t y = 0; y < s.height; ++y)
      for (std::size_t x = 0; x < s.width; ++x)
        for (std::size_t tap = 0; tap < 9; ++tap) {
          const std::size_t from_y = y + tap / 3 - 1, from_x = x + tap % 3 - 1;
          if (from_y >= s.height || from_x >= s.width) continue;
          body((image * s.height + y) * s.width + x, (image * s.height + from_y) * s.width + from_x, tap);
        }
}

/// The three products by their definition.
struct Direct {
  std::vector<double> y, dx, dw;

  Direct(const WinogradShape& s, const Values& x, const Values& w, const Values& dy)
      : y(pixels(s) * s.out), dx(pixels(s) * s.in), dw(9 * s.in * s.out) {
    for_each_meeting(s, [&](std::size_t to, std::size_t from, std::size_t tap) {
      for (std::size_t k = 0; k < s.out; ++k) {
        const double gradient = dy[to * s.out + k];
        double sum = 0;
        for (std::size_t c = 0; c < s.in; ++c) {
          const std::size_t weight = (k * 9 + tap) * s.in + c, input = from * s.in + c;
          sum += double{x[input]} * double{w[weight]};
          dx[input] += gradient * double{w[weight]};
          dw[weight] += gradient * double{x[input]};
        }
        y[to * s.out + k] += sum;
      }
    });
  }
};

constexpr float nothing = std::numeric_limits<float>::quiet_NaN();

/// Memory that begins as NaN, so that what is not written is seen, and with more of it at the end that must stay so.
class Memory {
 public:
  explicit Memory(std::size_t count) : count_(count), values_(count + 64, nothing) {}

  std::span<float> span() { return std::span(values_).first(count_); }

  /// The values, once all is done.
  Values take() {
    for (std::size_t i = count_; i < values_.size(); ++i) EXPECT_TRUE(std::isnan(values_[i])) << "written past the end";
    values_.resize(count_);
    return std::move(values_);
  }

 private:
  std::size_t count_;
  Values values_;
};

struct Fast {
  Values y, dx, dw;

  Fast(const WinogradShape& s, const Values& x, const Values& w, const Values& dy, const Workers& workers) {
    const auto in_memory = [&](WinogradProduct product, std::size_t outputs, auto function, const Values& a,
                               const Values& b) {
      Memory result(outputs), scratch(winograd_scratch(product, s, workers.count));
      function(s, a, b, result.span(), scratch.span(), workers);
      scratch.take();
      return result.take();
    };
    y = in_memory(WinogradProduct::forward, pixels(s) * s.out, winograd_forward, x, w);
    dx = in_memory(WinogradProduct::backward_data, pixels(s) * s.in, winograd_backward_data, dy, w);
    dw = in_memory(WinogradProduct::backward_weights, 9 * s.in * s.out, winograd_backward_weights, x, dy);
  }
};

/// The largest error as a part of the largest value; NaN counts as infinite.
double error(const Values& found, const std::vector<double>& expected) {
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(double{found[i]} - expected[i]);
    worst = std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(worst, difference);
    largest = std::max(largest, std::abs(expected[i]));
  }
  return worst / largest;
}

const std::vector<WinogradShape> shapes = {
    {1, 2, 2, 8, 8},      // one tile, all of it border
    {1, 3, 2, 8, 16},     // tiles that stand out below
    {2, 2, 5, 16, 8},     // and at the right
    {3, 7, 9, 24, 40},    // odd everything, half panels
    {5, 8, 8, 16, 16},    // inner tiles
    {2, 5, 4, 72, 88},    // more than one group of outputs
    {64, 7, 5, 8, 8},     // sums in several parts
    {31, 15, 15, 8, 16},  // parts of several blocks
    {2, 4, 3, 264, 264},  // sums that are shared
    {520, 2, 2, 72, 80},  // and in two blocks of tiles
};

// Each with all shapes: a program of its own for each of them would take far longer to start than to run.

TEST(Winograd, GivesTheThreeProductsOfADirectConvolution) {
  if (!winograd_available()) GTEST_SKIP() << "this processor has no AVX2 or no FMA";
  for (const WinogradShape& s : shapes) {
    SCOPED_TRACE(testing::Message() << s);
    const Values x = random_values(pixels(s) * s.in, 1), w = random_values(9 * s.in * s.out, 2),
                 dy = random_values(pixels(s) * s.out, 3);
    const Direct direct(s, x, w, dy);
    const Fast fast(s, x, w, dy, one_by_one());
    EXPECT_LT(error(fast.y, direct.y), 2e-6);
    EXPECT_LT(error(fast.dx, direct.dx), 2e-6);
    EXPECT_LT(error(fast.dw, direct.dw), 2e-6);
  }
}

TEST(Winograd, GivesTheSameBitsOnAnyNumberOfThreads) {
  if (!winograd_available()) GTEST_SKIP() << "this processor has no AVX2 or no FMA";
  for (const WinogradShape& s : shapes) {
    SCOPED_TRACE(testing::Message() << s);
    const Values x = random_values(pixels(s) * s.in, 1), w = random_values(9 * s.in * s.out, 2),
                 dy = random_values(pixels(s) * s.out, 3);
    const Fast one(s, x, w, dy, one_by_one());
    for (const std::size_t count : {2U, 5U}) {
      const Fast many(s, x, w, dy, threads(count));
      EXPECT_EQ(many.y, one.y);
      EXPECT_EQ(many.dx, one.dx);
      EXPECT_EQ(many.dw, one.dw);
    }
  }
}

struct WinogradSizes : testing::Test {
  WinogradShape shape{1, 4, 4, 8, 16};
  Values x = Values(16 * 8), y = Values(16 * 16), w = Values(9 * 8 * 16),
         scratch = Values(winograd_scratch(WinogradProduct::forward, shape, 1));
};

TEST_F(WinogradSizes, AreChecked) {
  const Workers workers = one_by_one();
  const auto fails = [&] { EXPECT_THROW(winograd_forward(shape, x, w, y, scratch, workers), std::invalid_argument); };
  shape.in = 12;
  fails();
  shape = {1, 1, 16, 8, 16};
  fails();
  shape = {0, 4, 4, 8, 16};
  fails();
  shape = {2, 4, 4, 8, 16};
  fails();
  shape = {1, 4, 4, 8, 16};
  scratch.pop_back();
  fails();
}

TEST_F(WinogradSizes, OfScratchMemoryDoNotGrowWithTheBatch) {
  for (const auto product :
       {WinogradProduct::forward, WinogradProduct::backward_data, WinogradProduct::backward_weights})
    EXPECT_EQ(winograd_scratch(product, {1000, 32, 32, 64, 64}, 2),
              winograd_scratch(product, {4000, 32, 32, 64, 64}, 2));
}

TEST(WinogradPays, WhereItWasMeasuredTo) {
  if (!winograd_available()) GTEST_SKIP() << "this processor has no AVX2 or no FMA";
  EXPECT_TRUE(winograd_pays({128, 32, 32, 16, 16}));
  EXPECT_TRUE(winograd_pays({128, 4, 4, 512, 512}));
  EXPECT_TRUE(winograd_pays({128, 5, 5, 64, 64}));
  EXPECT_FALSE(winograd_pays({128, 32, 32, 8, 16}));   // the transforms cost more than they save
  EXPECT_FALSE(winograd_pays({1, 4, 4, 512, 512}));    // as do those of the weights
  EXPECT_FALSE(winograd_pays({128, 3, 3, 64, 64}));    // tiles that are nearly half empty
  EXPECT_FALSE(winograd_pays({128, 32, 32, 20, 20}));  // not possible
  EXPECT_FALSE(winograd_pays({128, 32, 1, 16, 16}));
}

}  // namespace
}  // namespace regroup
