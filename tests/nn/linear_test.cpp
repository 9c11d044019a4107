#include "regroup/nn/kernels/linear.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/autograd.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "nn/nn_testing.h"
#include "nn/test_workers.h"
#include "regroup/core/simd.h"
#include "regroup/nn/kernels/linear_kernels.h"
#include "regroup/nn/linear.h"
#include "regroup/nn/precision.h"

namespace regroup {
namespace {

using Floats = std::vector<float>;

Floats random_floats(std::size_t count, std::uint32_t index) {
  Stream stream(1, Purpose::synthetic, 0, index);
  Floats values(count);
  for (float& value : values) value = static_cast<float>(2 * stream.uniform() - 1);
  return values;
}

float rounded_to_bf16(float value) { return static_cast<float>(at::BFloat16(value)); }

/// A sum of products by the definition, and how large its terms are in all.
struct Exact {
  double sum = 0, size = 0;

  void add(double term) {
    sum += term;
    size += std::abs(term);
  }
};

void expect_near(const Floats& found, const std::vector<Exact>& exact) {
  ASSERT_EQ(found.size(), exact.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(double{found[i]}, exact[i].sum, 2e-6 * exact[i].size + 1e-9) << i;
}

/// Values, and the products of them by the definition and by our own code, of the values as they are or rounded to
/// bf16. Results begin as NaN, so that what is not written is seen.
struct Products {
  Products(const LinearShape& shape, bool rounds, const LinearKernels& by) : s(shape), rounded(rounds), kernels(by) {}

  double factor(float value) const { return double{rounded ? rounded_to_bf16(value) : value}; }

  std::vector<Exact> exact_y() const {
    std::vector<Exact> y(s.rows * s.out);
    for (std::size_t r = 0; r < s.rows; ++r)
      for (std::size_t o = 0; o < s.out; ++o) {
        y[r * s.out + o].add(double{bias[o]});
        for (std::size_t i = 0; i < s.in; ++i) y[r * s.out + o].add(factor(x[r * s.in + i]) * factor(w[o * s.in + i]));
      }
    return y;
  }
  std::vector<Exact> exact_dx() const {
    std::vector<Exact> dx(s.rows * s.in);
    for (std::size_t r = 0; r < s.rows; ++r)
      for (std::size_t o = 0; o < s.out; ++o)
        for (std::size_t i = 0; i < s.in; ++i)
          dx[r * s.in + i].add(double{dy[r * s.out + o]} * double{w[o * s.in + i]});
    return dx;
  }
  std::vector<Exact> exact_dw() const {
    std::vector<Exact> dw(s.out * s.in);
    for (std::size_t r = 0; r < s.rows; ++r)
      for (std::size_t o = 0; o < s.out; ++o)
        for (std::size_t i = 0; i < s.in; ++i)
          dw[o * s.in + i].add(factor(dy[r * s.out + o]) * factor(x[r * s.in + i]));
    return dw;
  }
  std::vector<Exact> exact_dbias() const {
    std::vector<Exact> dbias(s.out);
    for (std::size_t r = 0; r < s.rows; ++r)
      for (std::size_t o = 0; o < s.out; ++o) dbias[o].add(double{dy[r * s.out + o]});
    return dbias;
  }

  /// In memory that is not zero before.
  std::vector<std::uint16_t> rounded_rows(const Floats& values, const Workers& workers) const {
    std::vector<std::uint16_t> result(values.size() / s.in * RoundedRows::step(s.in), 0x7fc0);
    round_rows(values, s.in, result, workers, kernels);
    return result;
  }

  Floats y(const Workers& workers) const {
    Floats result(s.rows * s.out, nan);
    if (rounded) {
      const auto rounded_x = rounded_rows(x, workers), rounded_w = rounded_rows(w, workers);
      linear_forward({s.rows, s.in, rounded_x.data()}, {s.out, s.in, rounded_w.data()}, bias, result, workers, kernels);
    } else {
      linear_forward(s, x, w, bias, result, workers, kernels);
    }
    return result;
  }
  Floats dx(const Workers& workers) const {
    Floats result(s.rows * s.in, nan);
    linear_backward_data(s, dy, w, result, scratch, workers, kernels);
    return result;
  }
  struct OfWeights {
    Floats dw, dbias;
    bool operator==(const OfWeights&) const = default;
  };
  OfWeights of_weights(const Workers& workers) const {
    OfWeights result{Floats(s.out * s.in, nan), Floats(s.out, nan)};
    if (rounded) {
      linear_backward_weights({s.rows, s.in, rounded_rows(x, workers).data()}, dy, result.dw, result.dbias, scratch,
                              workers, kernels);
    } else {
      linear_backward_weights(s, x, dy, result.dw, result.dbias, scratch, workers, kernels);
    }
    return result;
  }

  static constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  LinearShape s;
  bool rounded;
  const LinearKernels& kernels;
  Floats x = random_floats(s.rows * s.in, 1), dy = random_floats(s.rows * s.out, 2), w = random_floats(s.out * s.in, 3),
         bias = random_floats(s.out, 4);
  mutable LinearScratch scratch;
};

const std::vector<LinearShape> shapes = {
    {1, 1, 2},      {1, 768, 100},  {2, 3, 10},     {5, 17, 1},     {7, 384, 77},
    {9, 31, 6},     {16, 768, 100}, {33, 768, 100}, {64, 17, 1000}, {3, 1000, 2},
    {11, 1000, 77}, {600, 40, 13},  {257, 96, 100}, {130, 33, 33},  {300, 65, 7},
};

struct Way {
  const char* name;
  bool rounded;
  const LinearKernels& kernels;
};

/// All that this processor can do.
std::vector<Way> ways() {
  std::vector<Way> all;
#if defined(__x86_64__)
  static const LinearKernels narrow = avx2::linear_kernels(), wide = avx512::linear_kernels();
  if (cpu_has_fma()) all.push_back({"Avx2", false, narrow});
  if (cpu_has_avx512_bf16()) {
    all.push_back({"Avx512", false, wide});
    all.push_back({"Bf16", true, wide});
  }
#endif
  return all;
}

class LinearProducts : public testing::TestWithParam<Way> {
 protected:
  static void for_each_shape(const std::function<void(const Products&)>& body) {
    for (const LinearShape& shape : shapes) {
      SCOPED_TRACE(testing::Message() << shape.rows << " rows, " << shape.in << " to " << shape.out);
      body(Products(shape, GetParam().rounded, GetParam().kernels));
    }
  }
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LinearProducts);
INSTANTIATE_TEST_SUITE_P(By, LinearProducts, testing::ValuesIn(ways()),
                         [](const auto& info) { return info.param.name; });

TEST_P(LinearProducts, AreThoseOfTheDefinition) {
  for_each_shape([](const Products& products) { expect_near(products.y(one_by_one()), products.exact_y()); });
}

TEST_P(LinearProducts, HaveTheGradientOfTheInput) {
  for_each_shape([](const Products& products) { expect_near(products.dx(one_by_one()), products.exact_dx()); });
}

TEST_P(LinearProducts, HaveTheGradientOfTheWeights) {
  for_each_shape([](const Products& products) {
    const auto found = products.of_weights(one_by_one());
    expect_near(found.dw, products.exact_dw());
    expect_near(found.dbias, products.exact_dbias());
  });
}

TEST_P(LinearProducts, HaveTheSameBitsOnAnyNumberOfThreads) {
  for_each_shape([](const Products& products) {
    for (const std::size_t count : {2U, 5U}) {
      EXPECT_EQ(products.y(threads(count)), products.y(one_by_one()));
      EXPECT_EQ(products.dx(threads(count)), products.dx(one_by_one()));
      EXPECT_EQ(products.of_weights(threads(count)), products.of_weights(one_by_one()));
    }
  });
}

TEST_P(LinearProducts, OfARowDoNotDependOnTheOthers) {
  for_each_shape([](const Products& together) {
    Products alone = together;
    alone.s.rows = 1;
    alone.x.assign(together.x.end() - static_cast<std::ptrdiff_t>(together.s.in), together.x.end());
    const Floats all = together.y(one_by_one());
    EXPECT_EQ(alone.y(one_by_one()), Floats(all.end() - static_cast<std::ptrdiff_t>(together.s.out), all.end()));
  });
}

TEST_P(LinearProducts, MustHaveTheSizesOfTheirShape) {
  Products products({4, 6, 3}, GetParam().rounded, GetParam().kernels);
  products.bias.pop_back();
  EXPECT_THROW(products.y(one_by_one()), std::invalid_argument);
  products.dy.pop_back();
  EXPECT_THROW(products.dx(one_by_one()), std::invalid_argument);
  EXPECT_THROW(products.of_weights(one_by_one()), std::invalid_argument);
}

/// A layer whose tensors are learnt.
Linear layer_of(std::int64_t in, std::int64_t out) {
  return {(normal_tensor({out, in}, 1) / 10).requires_grad_(), normal_tensor({out}, 2).requires_grad_()};
}

struct Differentiated {
  at::Tensor y, dx, dweight, dbias;
};

/// A product and its gradients where each row has another weight in the loss.
template <class Product>
Differentiated differentiated(const Linear& layer, const at::Tensor& x, const Product& product) {
  const at::Tensor y = product(layer, x);
  const auto gradients =
      torch::autograd::grad({(y * normal_tensor(y.sizes(), 3)).sum()}, {x, layer.weight, layer.bias});
  return {y, gradients[0], gradients[1], gradients[2]};
}

void expect_same(const Differentiated& found, const Differentiated& expected, double tolerance) {
  EXPECT_LT(difference(found.y, expected.y), tolerance);
  EXPECT_LT(difference(found.dx, expected.dx), tolerance);
  EXPECT_LT(difference(found.dweight, expected.dweight), tolerance);
  EXPECT_LT(difference(found.dbias, expected.dbias), tolerance);
}

at::Tensor by_the_engine(const Linear& layer, const at::Tensor& x) { return at::linear(x, layer.weight, layer.bias); }

TEST(LinearLayer, IsTheEnginesWithItsGradients) {
  const Linear layer = layer_of(65, 11);
  const at::Tensor x = normal_tensor({37, 65}, 4).requires_grad_();
  const auto expected = differentiated(layer, x, by_the_engine);
  expect_same(differentiated(layer, x, [](const Linear& l, const at::Tensor& of) { return l(of); }), expected, 1e-5);
  // Without bf16 it rounds nothing.
  expect_same(differentiated(layer, x, [](const Linear& l, const at::Tensor& of) { return l.rounded(of); }), expected,
              1e-5);
}

TEST(LinearLayer, IsInFp32WhateverThePrecision) {
  const PrecisionScope bf16(Precision::bf16, at::kCPU);
  const Linear layer = layer_of(65, 11);
  const at::Tensor x = normal_tensor({37, 65}, 4);
  const at::Tensor y = layer(x);
  const PrecisionScope fp32(Precision::fp32, at::kCPU);
  EXPECT_LT(difference(y, by_the_engine(layer, x)), 1e-5);
}

TEST(LinearLayer, RoundsWhereBf16IsOn) {
  if (!rounded_linear_available()) GTEST_SKIP() << "this processor has no bf16 in AVX-512";
  const Linear layer = layer_of(65, 11);
  const at::Tensor x = normal_tensor({37, 65}, 4).requires_grad_();
  const auto expected = differentiated(layer, x, by_the_engine);
  const PrecisionScope bf16(Precision::bf16, at::kCPU);
  const auto found = differentiated(layer, x, [](const Linear& l, const at::Tensor& of) { return l.rounded(of); });
  expect_same(found, expected, 0.05);
  EXPECT_GT(difference(found.y, expected.y), 1e-4);
}

TEST(LinearLayer, TakesInputsThatAreRoundedAlready) {
  if (!rounded_linear_available()) GTEST_SKIP() << "this processor has no bf16 in AVX-512";
  const PrecisionScope bf16(Precision::bf16, at::kCPU);
  for (const std::int64_t in : {64, 65}) {
    const Linear layer = layer_of(in, 11);
    const auto weights_of = [&](const at::Tensor& x) {
      const at::Tensor y = layer.rounded(x);
      return std::pair{y, torch::autograd::grad({(y * normal_tensor(y.sizes(), 3)).sum()}, {layer.weight})[0]};
    };
    const at::Tensor x = normal_tensor({37, in}, 4);
    const auto found = weights_of(x.to(at::kBFloat16)), expected = weights_of(x);
    EXPECT_TRUE(at::equal(found.first, expected.first));
    EXPECT_TRUE(at::equal(found.second, expected.second));
  }
}

TEST(LinearLayer, TakesInputsOfAnyLayout) {
  const Linear layer = layer_of(20, 5);
  const at::Tensor x = normal_tensor({20, 9}, 4).t().requires_grad_();
  expect_same(differentiated(layer, x, [](const Linear& l, const at::Tensor& of) { return l(of); }),
              differentiated(layer, x, by_the_engine), 1e-5);
}

TEST(LinearLayer, HasSecondDerivatives) {
  const Linear layer = layer_of(6, 4);
  const at::Tensor x = normal_tensor({5, 6}, 4).requires_grad_();
  const auto second = [&](const auto& product) {
    const auto first = torch::autograd::grad({product(layer, x).pow(3).sum()}, {x, layer.weight}, {}, true, true);
    return torch::autograd::grad({first[0].pow(2).sum() + first[1].pow(2).sum()}, {x, layer.weight, layer.bias});
  };
  const auto expected = second(by_the_engine);
  const auto found = second([](const Linear& l, const at::Tensor& of) { return l(of); });
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_LT(difference(found[i], expected[i]), 1e-4) << i;
}

TEST(LinearLayer, LeavesOutGradientsThatNobodyAsksFor) {
  Linear layer = layer_of(6, 4);
  layer.weight.requires_grad_(false);
  layer.bias.requires_grad_(false);
  const at::Tensor x = normal_tensor({5, 6}, 4).requires_grad_();
  layer(x).sum().backward();
  EXPECT_LT(difference(x.grad(), layer.weight.sum(0).expand({5, 6})), 1e-5);
  EXPECT_FALSE(layer.weight.grad().defined());
}

}  // namespace
}  // namespace regroup
