#include "regroup/nn/kernels/depthwise.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>
#include <random>
#include <type_traits>
#include <vector>

#include "nn/test_workers.h"
#include "regroup/core/simd.h"
#include "regroup/nn/kernels/depthwise_kernels.h"

namespace regroup {

std::ostream& operator<<(std::ostream& out, const DepthwiseShape& s) {
  return out << s.images << " images " << s.height << "x" << s.width << ", " << s.channels << " channels, kernel "
             << s.kernel << ", stride " << s.stride;
}

namespace {

/// Both kernels and strides; even and odd sizes; less than a tile and several; strips that are whole and that are not.
std::vector<DepthwiseShape> shapes() {
  std::vector<DepthwiseShape> all;
  for (const std::size_t kernel : {3U, 5U})
    for (const std::size_t stride : {1U, 2U}) {
      all.push_back({1, 7, 7, 8, kernel, stride});
      all.push_back({2, 14, 9, 40, kernel, stride});
      all.push_back({3, 12, 33, 24, kernel, stride});
      all.push_back({2, 1, 1, 16, kernel, stride});
      all.push_back({2, 2, 3, 48, kernel, stride});
      all.push_back({18, 5, 16, 72, kernel, stride});
    }
  return all;
}

template <class T>
T stored(float value) {
  if constexpr (std::is_same_v<T, float>) return value;
  return static_cast<T>(std::bit_cast<std::uint32_t>(value) >> 16);
}

template <class T>
double value_of(T stored) {
  if constexpr (std::is_same_v<T, float>) return double{stored};
  return double{std::bit_cast<float>(static_cast<std::uint32_t>(stored) << 16)};
}

template <class T>
std::vector<T> random_values(std::size_t count, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<T> values(count);
  for (T& value : values) value = stored<T>(static_cast<float>(generator()) * 0x1p-31F - 1);
  return values;
}

/// What TensorFlow's documentation says: all padding, of which the smaller half comes first.
std::size_t padding_of(std::size_t size, std::size_t kernel, std::size_t stride) {
  const std::size_t rest = size % stride, all = kernel - (rest == 0 ? stride : rest);
  return (kernel > (rest == 0 ? stride : rest) ? all : 0) / 2;
}

/// Calls body(x, y, w) with the places of the values that meet.
template <class Body>
void for_each_meeting(const DepthwiseShape& s, const Body& body) {
  for (std::size_t image = 0; image < s.images; ++image)
    for (std::size_t row = 0; row < s.out_height(); ++row)
      for (std::size_t column = 0; column < s.out_width(); ++column)
        for (std::size_t tap = 0; tap < s.kernel * s.kernel; ++tap) {
          const std::size_t from_row = row * s.stride + tap / s.kernel - padding_of(s.height, s.kernel, s.stride),
                            from_column = column * s.stride + tap % s.kernel - padding_of(s.width, s.kernel, s.stride);
          if (from_row >= s.height || from_column >= s.width) continue;
          for (std::size_t c = 0; c < s.channels; ++c)
            body(((image * s.height + from_row) * s.width + from_column) * s.channels + c,
                 ((image * s.out_height() + row) * s.out_width() + column) * s.channels + c,
                 c * s.kernel * s.kernel + tap);
        }
}

template <class T>
struct Products {
  explicit Products(const DepthwiseShape& shape)
      : s(shape),
        x(random_values<T>(s.images * s.height * s.width * s.channels, 1)),
        dy(random_values<T>(s.images * s.out_height() * s.out_width() * s.channels, 2)),
        w(random_values<float>(s.channels * s.kernel * s.kernel, 3)) {}

  /// Results begin as NaN, so that what is not written is seen.
  void compute(const Workers& workers) {
    DepthwiseScratch scratch;
    const T nan = stored<T>(std::numeric_limits<float>::quiet_NaN());
    y.assign(dy.size(), nan);
    dx.assign(x.size(), nan);
    dw.assign(w.size(), std::numeric_limits<float>::quiet_NaN());
    depthwise_forward<T>(s, x, w, y, scratch, workers);
    depthwise_backward_data<T>(s, dy, w, dx, scratch, workers);
    depthwise_backward_weights<T>(s, x, dy, dw, scratch, workers);
  }

  DepthwiseShape s;
  std::vector<T> x, dy;
  std::vector<float> w;
  std::vector<T> y, dx;
  std::vector<float> dw;
};

template <class T>
void expect_near(const std::vector<T>& results, const std::vector<double>& sums, double tolerance, const char* what) {
  ASSERT_EQ(results.size(), sums.size());
  double worst = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double off = std::abs(value_of(results[i]) - sums[i]) / std::max(1.0, std::abs(sums[i]));
    worst = std::isnan(off) ? off : std::max(worst, off);
  }
  EXPECT_LE(worst, tolerance) << what;
}

template <class T>
void expect_definition(double stored_tolerance) {
  for (const DepthwiseShape& shape : shapes()) {
    SCOPED_TRACE(shape);
    Products<T> products(shape);
    std::vector<double> y(products.dy.size()), dx(products.x.size()), dw(products.w.size());
    for_each_meeting(shape, [&](std::size_t at_x, std::size_t at_y, std::size_t at_w) {
      const double x = value_of(products.x[at_x]), g = value_of(products.dy[at_y]), w = double{products.w[at_w]};
      y[at_y] += x * w;
      dx[at_x] += g * w;
      dw[at_w] += x * g;
    });
    products.compute(one_by_one());
    expect_near(products.y, y, stored_tolerance, "y");
    expect_near(products.dx, dx, stored_tolerance, "dx");
    expect_near(products.dw, dw, 2e-5, "dw");
  }
}

TEST(Depthwise, IsWhatTheDefinitionSays) { expect_definition<float>(2e-6); }

TEST(Depthwise, InBf16OnlyWhatIsStoredIsRounded) { expect_definition<std::uint16_t>(0x1p-8); }

template <class T>
void expect_same_on_threads() {
  for (const DepthwiseShape& shape : shapes()) {
    SCOPED_TRACE(shape);
    Products<T> one(shape);
    one.compute(one_by_one());
    for (const std::size_t count : {2U, 5U}) {
      Products<T> many(shape);
      many.compute(threads(count));
      EXPECT_TRUE(one.y == many.y && one.dx == many.dx && one.dw == many.dw) << count;
    }
  }
}

TEST(Depthwise, ThreadsChangeNoBit) {
  expect_same_on_threads<float>();
  expect_same_on_threads<std::uint16_t>();
}

TEST(Depthwise, TheOtherImagesOfABatchChangeNoBit) {
  const DepthwiseShape both{2, 9, 10, 40, 5, 2}, alone{1, 9, 10, 40, 5, 2};
  Products<float> batch(both), image(alone);
  batch.compute(one_by_one());
  image.w = batch.w;
  image.x.assign(batch.x.begin() + 9 * 10 * 40, batch.x.end());
  image.compute(one_by_one());
  EXPECT_TRUE(std::equal(image.y.begin(), image.y.end(), batch.y.begin() + 5 * 5 * 40));
}

TEST(Depthwise, WhatHasNoCodeIsRefused) {
  for (const DepthwiseShape& shape : {DepthwiseShape{1, 8, 8, 8, 4, 1},
                                      {1, 8, 8, 8, 3, 3},
                                      {1, 8, 8, 12, 3, 1},
                                      {0, 8, 8, 8, 3, 1},
                                      {1, 0, 8, 8, 3, 1}})
    EXPECT_FALSE(depthwise_possible(shape)) << shape;
  const DepthwiseShape shape{1, 8, 8, 8, 3, 1};
  const std::vector<float> x(8 * 8 * 8), w(8 * 9);
  std::vector<float> y(8 * 8 * 8 - 1);
  DepthwiseScratch scratch;
  EXPECT_THROW(depthwise_forward<float>(shape, x, w, y, scratch, one_by_one()), std::invalid_argument);
}

/// A row of everything, by the kernels of one processor.
template <class T>
std::vector<float> row_by(const DepthwiseKernels<T>& kernels, std::size_t kernel, bool second) {
  constexpr std::size_t channels = 24, pixels = 13, length = 48;
  const auto source = random_values<T>(length * channels, 1);
  const auto dy = random_values<float>(16 * channels, 2), w = random_values<float>(25 * channels, 3);
  std::vector<float> floats(length * channels), sums(25 * channels, 0.5F);
  kernels.widen(source.data(), length, channels, channels, floats.data());
  DepthwiseRow row{{}, pixels, channels, channels};
  for (std::size_t ty = 0; ty < kernel; ++ty) row.rows[ty] = ty == 1 ? nullptr : floats.data() + (2 + ty) * channels;
  std::vector<T> y(pixels * channels), dx(pixels * channels);
  kernels.forward(kernel, second ? 2 : 1, row, w.data(), y.data());
  kernels.backward(kernel, second, row, w.data(), dx.data());
  kernels.weights(kernel, second ? 2 : 1, row, dy.data(), sums.data());
  for (const auto* results : {&y, &dx})
    for (const T value : *results) sums.push_back(static_cast<float>(value_of(value)));
  return sums;
}

TEST(Depthwise, EveryProcessorComputesTheSameBits) {
#if defined(__x86_64__)
  for (const std::size_t kernel : {3U, 5U})
    for (const bool second : {false, true}) {
      const auto floats = row_by(baseline::float_depthwise(), kernel, second);
      const auto halves = row_by(baseline::bf16_depthwise(), kernel, second);
      if (cpu_has_avx2()) {
        EXPECT_EQ(row_by(avx2::float_depthwise(), kernel, second), floats);
        EXPECT_EQ(row_by(avx2::bf16_depthwise(), kernel, second), halves);
      }
      if (cpu_has_avx512_bf16()) {
        EXPECT_EQ(row_by(avx512::float_depthwise(), kernel, second), floats);
        EXPECT_EQ(row_by(avx512::bf16_depthwise(), kernel, second), halves);
      }
    }
#endif
}

}  // namespace
}  // namespace regroup
