// Compiled once for any processor, once with AVX2 and once with AVX-512 (see core/simd.h): no inline function of a
// header may be used here.
#include "regroup/core/softmax_kernels.h"

#include "regroup/core/lanes.h"

namespace regroup::REGROUP_KERNELS {
namespace {

/// e^x for x <= 0: 2^n e^r with |r| <= ln(2) / 2, and the Taylor series of e^r, whose eighth term is under 2e-9. Below
/// -87 it is 0; what is not a number stays that.
inline Floats exp_of(Floats x) {
  constexpr float per_ln2 = 1.44269504F, ln2_high = 0.693359375F, ln2_low = -2.12194440e-4F, to_whole = 0x1.8p23F;
  const Floats bounded = x < -87.0F ? Floats{} - 87.0F : x;
  const Floats shifted = bounded * per_ln2 + to_whole;
  const Floats n = shifted - to_whole;
  const Floats r = bounded - n * ln2_high - n * ln2_low;
  Floats series = r * (1.0F / 5040) + 1.0F / 720;
  series = series * r + 1.0F / 120;
  series = series * r + 1.0F / 24;
  series = series * r + 1.0F / 6;
  series = series * r + 0.5F;
  series = series * (r * r) + r + 1.0F;
  // The whole number stands in the lowest bits of `shifted`.
  const Ints power = (reinterpret_cast<Ints>(shifted) + 127) << 23;
  return x < -87.0F ? Floats{} : series * reinterpret_cast<Floats>(power);
}

}  // namespace

SoftmaxSums softmax_row(const float* logits, std::size_t count, std::size_t label, float* shares) {
  const auto larger = [](Floats a, Floats b) { return a > b ? a : b; };
  const auto others = [&](std::size_t i) {
    return own_places == static_cast<std::int32_t>(label - i) ? nothing() : load_at(logits, i, count);
  };
  Floats most = nothing();
  for (std::size_t i = 0; i < count; i += lanes) most = larger(others(i), most);
  SoftmaxSums result{};
  result.largest_other = over_lanes(most, larger);
  result.largest = logits[label] > result.largest_other ? logits[label] : result.largest_other;
  result.where_other = count;
  for (std::size_t i = 0; i < count && result.where_other == count; i += lanes) {
    const std::uint32_t bits = bits_of(others(i) == result.largest_other);
    if (bits != 0) result.where_other = i + static_cast<std::size_t>(__builtin_ctz(bits));
  }
  Floats sum{};
  for (std::size_t i = 0; i < count; i += lanes) {
    const Floats share = exp_of(load_at(logits, i, count) - result.largest);
    sum += share;
    store_at(share, shares, i, count);
  }
  result.sum = over_lanes(sum, [](Floats a, Floats b) { return a + b; });
  scale_row(shares, count, 1 / result.sum, shares);
  return result;
}

void scale_row(const float* row, std::size_t count, float factor, float* out) {
  for (std::size_t i = 0; i < count; i += lanes) store_at(load_at(row, i, count) * factor, out, i, count);
}

}  // namespace regroup::REGROUP_KERNELS
