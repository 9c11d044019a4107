// Compiled once for any processor, once with AVX2 and once with AVX-512 (see core/simd.h): no inline function of a
// header may be used here.
#include "regroup/labels/prediction_kernels.h"

#include "regroup/core/lanes.h"

namespace regroup::REGROUP_KERNELS {
namespace {

/// How many of the lanes come before each of them: larger ones, and the first of equals.
inline Ints ranks(const float (&values)[lanes]) {
  const auto all = load<Floats>(values);
  Ints rank{};
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(lanes); ++i) {
    const Floats one = Floats{} + values[i];
    // True is -1.
    rank -= (one > all) | ((one == all) & (own_places > i));
  }
  return rank;
}

/// A value that `wanted` values or more reach: so many of the lanes' largest do.
inline float reached(const float* values, std::size_t count, std::size_t wanted) {
  auto largest = load<Floats>(values);
  std::size_t i = lanes;
  for (; i + lanes <= count; i += lanes) {
    const auto some = load<Floats>(values + i);
    largest = some > largest ? some : largest;
  }
  float of_lanes[lanes];
  store(largest, of_lanes);
  std::int32_t rank[lanes];
  store(ranks(of_lanes), rank);
  float result = of_lanes[0];
  for (std::size_t lane = 0; lane < lanes; ++lane)
    result = rank[lane] == static_cast<std::int32_t>(wanted) - 1 ? of_lanes[lane] : result;
  return result;
}

/// One by one, whatever the values.
void find_slowly(const float* values, std::size_t count, std::size_t wanted, std::int32_t* places) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t at = found < wanted ? found++ : wanted;
    for (; at > 0 && values[i] > values[places[at - 1]]; --at)
      if (at < wanted) places[at] = places[at - 1];
    if (at < wanted) places[at] = static_cast<std::int32_t>(i);
  }
}

}  // namespace

void move_towards(float before, const float* now, float part, std::size_t count, float* out) {
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) store(before + (load<Floats>(now + i) - before) * part, out + i);
  for (; i < count; ++i) out[i] = before + (now[i] - before) * part;
}

void find_largest(const float* values, std::size_t count, std::size_t wanted, std::int32_t* places) {
  if (count < lanes) return find_slowly(values, count, wanted, places);
  const float least = reached(values, count, wanted);
  std::int32_t candidates[lanes];
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; i += lanes)
    for (std::uint32_t bits = bits_of(load_at(values, i, count) >= least); bits != 0; bits &= bits - 1) {
      if (found == lanes) return find_slowly(values, count, wanted, places);
      candidates[found++] = static_cast<std::int32_t>(i) + __builtin_ctz(bits);
    }
  float some[lanes];
  store(nothing(), some);
  for (std::size_t i = 0; i < found; ++i) some[i] = values[candidates[i]];
  std::int32_t rank[lanes];
  store(ranks(some), rank);
  for (std::size_t i = 0; i < found; ++i)
    if (rank[i] < static_cast<std::int32_t>(wanted)) places[rank[i]] = candidates[i];
}

}  // namespace regroup::REGROUP_KERNELS
