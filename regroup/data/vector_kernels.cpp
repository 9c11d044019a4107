// Compiled once for any processor and once with AVX2 (see core/simd.h): no inline function of a header may be used
// here.
#include "regroup/data/vector_kernels.h"

#include <cstdint>
#include <cstring>

namespace regroup::REGROUP_KERNELS {
namespace {

constexpr std::size_t lanes = 8;
using Ints = std::uint32_t __attribute__((vector_size(4 * lanes)));
using Floats = float __attribute__((vector_size(4 * lanes)));
using Halves = std::uint16_t __attribute__((vector_size(2 * lanes)));

inline Ints bits_of_half(Ints half) {
  // A half has 5 bits of exponent where a float has 8: moved to its place a number is 2^112 times too small, also one
  // of those below the smallest normal half. Where all 5 bits are set it is infinite or no number, and all 8 must be.
  constexpr float step = 0x1p112F;
  const auto scaled = reinterpret_cast<Floats>((half & 0x7fffU) << 13) * step;
  const Ints special = reinterpret_cast<Ints>((half & 0x7c00U) == 0x7c00U) & 0x7f800000U;
  return reinterpret_cast<Ints>(scaled) | special | (half & 0x8000U) << 16;
}

struct Float32 {
  static constexpr std::size_t size = 4;
  static Floats load(const std::byte* from) {
    Floats values;
    std::memcpy(&values, from, sizeof values);
    return values;
  }
};

struct Float16 {
  static constexpr std::size_t size = 2;
  static Floats load(const std::byte* from) {
    Halves halves;
    std::memcpy(&halves, from, sizeof halves);
    return reinterpret_cast<Floats>(bits_of_half(__builtin_convertvector(halves, Ints)));
  }
};

struct Bfloat16 {
  static constexpr std::size_t size = 2;
  static Floats load(const std::byte* from) {
    Halves halves;
    std::memcpy(&halves, from, sizeof halves);
    return reinterpret_cast<Floats>(__builtin_convertvector(halves, Ints) << 16);
  }
};

inline Floats load(const float* from) {
  Floats values;
  std::memcpy(&values, from, sizeof values);
  return values;
}

inline void store(Floats values, float* to, std::size_t count) { std::memcpy(to, &values, count * sizeof(float)); }

/// To nearest, ties to even.
inline void store(Floats values, std::uint16_t* to, std::size_t count) {
  const auto bits = reinterpret_cast<Ints>(values);
  const Ints rounded = (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
  const Ints not_a_number = bits >> 16 | 0x40U;
  const Halves halves = __builtin_convertvector((bits & 0x7fffffffU) > 0x7f800000U ? not_a_number : rounded, Halves);
  std::memcpy(to, &halves, count * sizeof(std::uint16_t));
}

template <class Type, class Out>
inline void standardise(const std::byte* in, std::size_t count, const float* scale, const float* offset, Out* out) {
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    store(Type::load(in + i * Type::size) * load(scale + i) + load(offset + i), out + i, lanes);
  if (i == count) return;
  // The last few, as many as the lanes with zeros behind them.
  const std::size_t rest = count - i;
  std::byte last[lanes * Type::size] = {};
  float last_scale[lanes] = {}, last_offset[lanes] = {};
  std::memcpy(last, in + i * Type::size, rest * Type::size);
  std::memcpy(last_scale, scale + i, rest * sizeof(float));
  std::memcpy(last_offset, offset + i, rest * sizeof(float));
  store(Type::load(last) * load(last_scale) + load(last_offset), out + i, rest);
}

}  // namespace

void standardise_float32(const std::byte* in, std::size_t count, const float* scale, const float* offset, float* out) {
  standardise<Float32>(in, count, scale, offset, out);
}

void standardise_float16(const std::byte* in, std::size_t count, const float* scale, const float* offset, float* out) {
  standardise<Float16>(in, count, scale, offset, out);
}

void standardise_bfloat16(const std::byte* in, std::size_t count, const float* scale, const float* offset, float* out) {
  standardise<Bfloat16>(in, count, scale, offset, out);
}

void round_float32(const std::byte* in, std::size_t count, const float* scale, const float* offset,
                   std::uint16_t* out) {
  standardise<Float32>(in, count, scale, offset, out);
}

void round_float16(const std::byte* in, std::size_t count, const float* scale, const float* offset,
                   std::uint16_t* out) {
  standardise<Float16>(in, count, scale, offset, out);
}

void round_bfloat16(const std::byte* in, std::size_t count, const float* scale, const float* offset,
                    std::uint16_t* out) {
  standardise<Bfloat16>(in, count, scale, offset, out);
}

}  // namespace regroup::REGROUP_KERNELS
