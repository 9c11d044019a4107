#include "regroup/nn/batch_norm.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>

#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "nn/nn_testing.h"
#include "regroup/core/simd.h"
#include "regroup/nn/kernels/batch_norm_kernels.h"

namespace regroup {
namespace {

struct Case {
  std::vector<std::int64_t> sizes;
  Activation activation = Activation::relu;
  bool with_addend = true;
  at::ScalarType type = at::kFloat;
  at::MemoryFormat format = at::MemoryFormat::ChannelsLast;
  double mean = 0.5, deviation = 2;  ///< of x, before it is rounded to its type
};

struct Inputs {
  at::Tensor x, addend, dy;
  BatchNorm norm;

  explicit Inputs(const Case& c) {
    const auto channels = c.sizes[1];
    const auto image = [&](const at::Tensor& values) { return values.to(c.type).contiguous(c.format); };
    x = image(normal_tensor(c.sizes, 1) * c.deviation + c.mean);
    if (c.with_addend) addend = image(normal_tensor(c.sizes, 2));
    dy = image(normal_tensor(c.sizes, 3));
    norm = {1 + normal_tensor({channels}, 4) / 2, normal_tensor({channels}, 5), normal_tensor({channels}, 6),
            normal_tensor({channels}, 7).square() + 0.5, at::full({}, 41, at::kLong)};
  }

  /// Tensors of their own, in which nothing has happened yet.
  Inputs fresh(bool in_double) const {
    const auto copy = [&](const at::Tensor& t) {
      if (!t.defined() || !t.is_floating_point()) return t.defined() ? t.clone() : t;
      return in_double ? t.to(at::kDouble, /*non_blocking=*/false, /*copy=*/true).contiguous() : t.clone();
    };
    Inputs inputs(*this);
    for (at::Tensor* t : {&inputs.x, &inputs.addend, &inputs.dy, &inputs.norm.weight, &inputs.norm.bias,
                          &inputs.norm.running_mean, &inputs.norm.running_var, &inputs.norm.num_batches_tracked})
      *t = copy(*t);
    for (at::Tensor* t : {&inputs.x, &inputs.addend, &inputs.norm.weight, &inputs.norm.bias})
      if (t->defined()) t->requires_grad_();
    return inputs;
  }
};

/// Output, gradients and statistics under their names.
using Results = std::map<std::string, at::Tensor>;

Results results_of(const Inputs& inputs, const at::Tensor& y) {
  y.backward(inputs.dy);
  Results results{{"y", y.detach()},
                  {"dx", inputs.x.grad()},
                  {"dweight", inputs.norm.weight.grad()},
                  {"dbias", inputs.norm.bias.grad()},
                  {"running_mean", inputs.norm.running_mean},
                  {"running_var", inputs.norm.running_var},
                  {"num_batches_tracked", inputs.norm.num_batches_tracked}};
  if (inputs.addend.defined()) results["daddend"] = inputs.addend.grad();
  return results;
}

bool is_fused(const at::Tensor& y) { return y.grad_fn()->name().find("FusedBatchNorm") != std::string::npos; }

Results ours(const Case& c, bool fused = true, bool training = true) {
  const Inputs inputs = Inputs(c).fresh(false);
  const at::Tensor y = batch_norm(inputs.x, inputs.norm, training, c.activation, inputs.addend);
  EXPECT_EQ(is_fused(y), fused);
  EXPECT_EQ(y.scalar_type(), c.type);
  return results_of(inputs, y);
}

/// By the engine, in double precision.
at::Tensor engines_output(const Inputs& in, Activation activation, bool training) {
  at::Tensor y = at::batch_norm(in.x, in.norm.weight, in.norm.bias, in.norm.running_mean, in.norm.running_var, training,
                                in.norm.momentum, in.norm.epsilon, false);
  if (in.addend.defined()) y = y + in.addend;
  if (activation == Activation::relu6) return y.clamp(0, 6);
  return activation == Activation::relu ? y.relu() : y;
}

Results engines(const Case& c, bool training = true) {
  const Inputs inputs = Inputs(c).fresh(true);
  if (training) inputs.norm.num_batches_tracked.add_(1);
  return results_of(inputs, engines_output(inputs, c.activation, training));
}

/// `exact` for what is kept in single precision, `stored` for what has the type of x.
void expect_near(const Results& results, const Results& expected, double exact, double stored) {
  ASSERT_EQ(results.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    const bool has_type_of_x = name == "y" || name == "dx" || name == "daddend";
    EXPECT_LE(difference(results.at(name), tensor), has_type_of_x ? stored : exact) << name;
  }
}

void expect_same_bits(const Results& a, const Results& b) {
  for (const auto& [name, tensor] : a) EXPECT_TRUE(at::equal(tensor, b.at(name))) << name;
}

/// Few rows and many, parts of several blocks, one pixel, 1024 channels and more.
const std::vector<std::vector<std::int64_t>> shapes = {{2, 8, 3, 5},     {4, 16, 8, 8},  {3, 24, 7, 7},
                                                       {5, 64, 1, 1},    {70, 40, 1, 1}, {2, 1032, 12, 12},
                                                       {1, 520, 24, 24}, {2, 8, 1, 1}};

TEST(BatchNorm, IsTheEnginesWithAddendAndReluAfterIt) {
  for (const auto& sizes : shapes) {
    for (const auto activation : {Activation::none, Activation::relu, Activation::relu6}) {
      for (const bool with_addend : {false, true}) {
        SCOPED_TRACE(at::IntArrayRef(sizes));
        SCOPED_TRACE(with_addend);
        const Case c{sizes, activation, with_addend};
        expect_near(ours(c), engines(c), 2e-5, 1e-4);
      }
    }
  }
}

TEST(BatchNorm, InBf16OnlyWhatIsStoredIsRounded) {
  for (const auto& sizes : shapes) {
    for (const auto activation : {Activation::none, Activation::relu, Activation::relu6}) {
      for (const bool with_addend : {false, true}) {
        // The output tells what passed, and what was rounded to 6 is taken for more.
        if (activation == Activation::relu6 && with_addend) continue;
        SCOPED_TRACE(at::IntArrayRef(sizes));
        SCOPED_TRACE(with_addend);
        const Case c{sizes, activation, with_addend, at::kBFloat16};
        expect_near(ours(c), engines(c), 2e-5, 0x1p-8);
      }
    }
  }
}

TEST(BatchNorm, ALargeMeanDoesNotDrownASmallVariance) {
  for (const auto& sizes : shapes) {
    SCOPED_TRACE(at::IntArrayRef(sizes));
    const Case c{.sizes = sizes, .mean = 1000, .deviation = 0.1};
    const Results results = ours(c), expected = engines(c);
    // As a sum of squares in single precision the variance of 0.01 would be off by 0.06. What is left is the rounding
    // of numbers near 1000 / 0.1.
    EXPECT_LE(difference(results.at("running_var"), expected.at("running_var")), 1e-6);
    EXPECT_LE(difference(results.at("running_mean"), expected.at("running_mean")), 1e-6);
    if (sizes[0] * sizes[2] * sizes[3] > 2) {  // two values can lie so close that the rounding is all there is
      EXPECT_LE(difference(results.at("y"), expected.at("y")), 4e-3);
    }
  }
}

TEST(BatchNorm, EvaluatesWithTheRunningStatistics) {
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    const double tolerance = type == at::kFloat ? 1e-5 : 0x1p-8;
    const Case c{.sizes = {3, 24, 7, 7}, .type = type};
    expect_near(ours(c, /*fused=*/true, /*training=*/false), engines(c, false), 5e-5, tolerance);

    const at::NoGradGuard no_grad;
    const Inputs inputs(c);
    const at::Tensor mean = inputs.norm.running_mean.clone(), variance = inputs.norm.running_var.clone();
    const at::Tensor y = batch_norm(inputs.x, inputs.norm, false, c.activation, inputs.addend);
    EXPECT_LE(difference(y, engines_output(Inputs(c).fresh(true), c.activation, false)), tolerance);
    EXPECT_TRUE(at::equal(inputs.norm.running_mean, mean));
    EXPECT_TRUE(at::equal(inputs.norm.running_var, variance));
    EXPECT_EQ(inputs.norm.num_batches_tracked.item<int>(), 41);
  }
}

TEST(BatchNorm, WhatIsFrozenIsFusedInEvaluationWhereOthersLearn) {
  const Case c{.sizes = {3, 24, 7, 7}, .activation = Activation::relu6};
  const Inputs frozen(c), learnt = Inputs(c).fresh(false);
  const at::Tensor y = batch_norm(frozen.x, frozen.norm, false, c.activation, frozen.addend);
  EXPECT_FALSE(y.requires_grad());
  EXPECT_LE(difference(y, batch_norm(learnt.x, learnt.norm, false, c.activation, learnt.addend)), 1e-5);
}

TEST(BatchNorm, EpsilonAndMomentumAreItsOwn) {
  const Case c{{3, 24, 7, 7}};
  for (const bool training : {true, false}) {
    Inputs ours(c);
    ours.norm.epsilon = 0.5;
    ours.norm.momentum = 0.01;
    const Inputs expected = ours.fresh(true);
    const at::NoGradGuard no_grad;
    EXPECT_LE(difference(batch_norm(ours.x, ours.norm, training, c.activation, ours.addend),
                         engines_output(expected, c.activation, training)),
              1e-5);
    EXPECT_LE(difference(ours.norm.running_var, expected.norm.running_var), 1e-5);
  }
}

TEST(BatchNorm, FollowsTheStatisticsWithoutGradientsToo) {
  const Case c{{3, 24, 7, 7}};
  const Results expected = engines(c);
  const at::NoGradGuard no_grad;
  const Inputs inputs(c);
  EXPECT_LE(difference(batch_norm(inputs.x, inputs.norm, true, c.activation, inputs.addend), expected.at("y")), 2e-5);
  EXPECT_LE(difference(inputs.norm.running_var, expected.at("running_var")), 2e-5);
  EXPECT_EQ(inputs.norm.num_batches_tracked.item<int>(), 42);
}

TEST(BatchNorm, WhatCannotBeFusedIsLeftToTheEngine) {
  const auto contiguous = at::MemoryFormat::Contiguous;
  for (const Case& c : {Case{.sizes = {3, 12, 7, 7}}, Case{.sizes = {3, 24, 7, 7}, .format = contiguous},
                        Case{.sizes = {3, 12, 7, 7}, .activation = Activation::none, .with_addend = false}})
    expect_near(ours(c, /*fused=*/false), engines(c), 2e-5, 2e-5);
  const Case bf16{.sizes = {3, 12, 7, 7}, .with_addend = false, .type = at::kBFloat16};
  EXPECT_LE(difference(ours(bf16, /*fused=*/false).at("y"), engines(bf16).at("y")), 0x1p-7);
}

TEST(BatchNorm, AnAddendOfAnotherLayoutOrShapeIsAddedAsTheEngineDoes) {
  const Case c{{3, 24, 7, 7}};
  for (const at::Tensor& addend : {normal_tensor({3, 24, 7, 7}, 8), normal_tensor({1, 24, 1, 1}, 9)}) {
    Inputs inputs = Inputs(c), expected = inputs;
    inputs.addend = addend;
    expected.addend = addend;
    inputs = inputs.fresh(false);
    expected = expected.fresh(true);
    expect_near(
        results_of(inputs, batch_norm(inputs.x, inputs.norm, true, c.activation, inputs.addend)),
        [&] {
          expected.norm.num_batches_tracked.add_(1);
          return results_of(expected, engines_output(expected, c.activation, true));
        }(),
        2e-5, 2e-5);
  }
}

TEST(BatchNorm, AGradientOfAnyLayoutIsTaken) {
  const Case c{{3, 24, 7, 7}};
  const Inputs a = Inputs(c).fresh(false), b = Inputs(c).fresh(false);
  batch_norm(a.x, a.norm, true, c.activation, a.addend).backward(a.dy);
  batch_norm(b.x, b.norm, true, c.activation, b.addend).backward(b.dy.contiguous());
  EXPECT_TRUE(at::equal(a.x.grad(), b.x.grad()));
  EXPECT_TRUE(at::equal(a.addend.grad(), b.addend.grad()));
}

TEST(BatchNorm, NotANumberStaysWhatItIs) {
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    for (const bool training : {false, true}) {
      const Case c{.sizes = {2, 16, 4, 4}, .type = type};
      const at::NoGradGuard no_grad;
      const Inputs inputs(c);
      inputs.x[1][3][2][1] = NAN;
      const at::Tensor y = batch_norm(inputs.x, inputs.norm, training, c.activation, inputs.addend);
      EXPECT_TRUE(y[1][3][2][1].isnan().item<bool>());
      // A batch with it has no statistics in that channel; the other channels do not notice.
      EXPECT_EQ(y.isnan().sum().item<int>(), training ? 2 * 4 * 4 : 1);
      EXPECT_EQ(inputs.norm.running_var.isnan().sum().item<int>(), training ? 1 : 0);
    }
  }
}

TEST(BatchNorm, GivesTheSameBitsOnOneThreadAndTwo) {
  const int before = at::get_num_threads();
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    for (const bool with_addend : {false, true}) {
      const Case c{.sizes = {2, 136, 16, 16}, .with_addend = with_addend, .type = type};
      at::set_num_threads(1);
      const Results one = ours(c);
      at::set_num_threads(2);
      expect_same_bits(one, ours(c));
    }
  }
  at::set_num_threads(before);
}

TEST(BatchNorm, RefusesSecondDerivatives) {
  const Case c{{2, 8, 3, 5}};
  const Inputs inputs = Inputs(c).fresh(false);
  const at::Tensor y = batch_norm(inputs.x, inputs.norm, true, c.activation, inputs.addend);
  EXPECT_THROW(torch::autograd::grad({y}, {inputs.x}, {inputs.dy}, /*retain_graph=*/true, /*create_graph=*/true),
               std::logic_error);
}

template <class T>
std::vector<T> as_type(const at::Tensor& values) {
  const at::Tensor stored = values.to(std::is_same_v<T, float> ? at::kFloat : at::kBFloat16).contiguous();
  std::vector<T> result(static_cast<std::size_t>(stored.numel()));
  std::memcpy(result.data(), stored.data_ptr(), result.size() * sizeof(T));
  return result;
}

/// All that the kernels write, for all rows but the first and the last.
template <class T>
std::vector<T> written_by(const BatchNormKernels<T>& kernels, std::int64_t channels) {
  const std::int64_t count = 40;
  const auto image = [&](std::uint32_t index) { return as_type<T>(normal_tensor({count, channels}, index)); };
  const auto row = [&](std::uint32_t index) { return as_type<float>(normal_tensor({channels}, index)); };
  const Rows rows{1, static_cast<std::size_t>(count) - 1, static_cast<std::size_t>(channels)};
  const auto x = image(1), addend = image(2), dy = image(3), out = image(4);
  const auto scale = row(5), shift = row(6), mean = row(7), slope = row(8);

  std::vector<T> all;
  const auto keep = [&](const auto& values) {
    const auto* const bytes = reinterpret_cast<const T*>(values.data());
    all.insert(all.end(), bytes, bytes + values.size() * sizeof(values[0]) / sizeof(T));
  };
  std::vector<float> first(rows.channels), second(rows.channels);
  const auto keep_sums = [&] {
    keep(first);
    keep(second);
  };
  kernels.moments(rows, x.data(), first.data(), second.data());
  keep_sums();
  for (const auto activation : {Activation::none, Activation::relu, Activation::relu6}) {
    for (const T* more : {static_cast<const T*>(nullptr), addend.data()}) {
      std::vector<T> y(x.size());
      kernels.normalise(rows, x.data(), more, scale.data(), shift.data(), activation, y.data());
      keep(y);
      const T* const output = more != nullptr ? out.data() : nullptr;
      kernels.backward_sums(rows, dy.data(), x.data(), output, scale.data(), shift.data(), mean.data(), activation,
                            first.data(), second.data());
      keep_sums();
      std::vector<T> dx(x.size()), daddend(x.size());
      kernels.backward(rows, dy.data(), x.data(), output, scale.data(), shift.data(), activation, slope.data(),
                       mean.data(), dx.data(), more != nullptr ? daddend.data() : nullptr);
      keep(dx);
      keep(daddend);
    }
  }
  return all;
}

#if defined(__x86_64__)
TEST(BatchNormKernels, GiveTheSameBitsOnEveryProcessor) {
  if (!cpu_has_avx2()) GTEST_SKIP() << "this processor has no AVX2";
  for (const std::int64_t channels : {8, 16, 24, 1032, 1040}) {
    const auto floats = written_by(baseline::float_batch_norm(), channels);
    const auto halves = written_by(baseline::bf16_batch_norm(), channels);
    EXPECT_EQ(floats, written_by(avx2::float_batch_norm(), channels));
    EXPECT_EQ(halves, written_by(avx2::bf16_batch_norm(), channels));
    if (!cpu_has_avx512_bf16()) continue;
    EXPECT_EQ(floats, written_by(avx512::float_batch_norm(), channels));
    EXPECT_EQ(halves, written_by(avx512::bf16_batch_norm(), channels));
  }
}
#endif

TEST(BatchNormKernels, RoundToBf16AsTheEngineDoes) {
  // All bits that a bf16 number can have, plus one that is rounded away in most places.
  const at::Tensor bits = at::arange(0, 1 << 16, at::kInt).to(at::kShort);
  std::vector<std::uint16_t> x(1 << 16), y(1 << 16);
  std::memcpy(x.data(), bits.data_ptr(), x.size() * sizeof x[0]);
  const at::Tensor numbers = bits.view(at::kBFloat16);
  for (const std::size_t channels : {8U, 16U}) {
    const std::vector<float> scale(channels, 1.25F + 0x1p-8F), shift(channels, 0x1p-9F);
    const Rows rows{0, x.size() / channels, channels};
    REGROUP_WIDEST_KERNEL(bf16_batch_norm)
    ().normalise(rows, x.data(), nullptr, scale.data(), shift.data(), Activation::none, y.data());
    const at::Tensor expected = (numbers.to(at::kFloat) * scale[0] + shift[0]).to(at::kBFloat16);
    const at::Tensor result = at::empty({1 << 16}, at::kBFloat16);
    std::memcpy(result.data_ptr(), y.data(), y.size() * sizeof y[0]);
    EXPECT_EQ(result.isnan().sum().item<int>(), 2 * 127);
    EXPECT_TRUE(at::equal(result.isnan(), expected.isnan()));
    EXPECT_TRUE(at::equal(result.nan_to_num(0), expected.nan_to_num(0)));
  }
}

}  // namespace
}  // namespace regroup
