#pragma once

// For files that are compiled several times (see simd.h): all of it is of the file that includes it, since the linker
// would keep one processor's form for everybody.

#include <cstddef>
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace regroup::REGROUP_KERNELS {
namespace {

// As wide as the widest registers; where they are narrower the compiler splits them, and results have the same bits.
inline constexpr std::size_t lanes = 16;
using Floats = float __attribute__((vector_size(4 * lanes)));
using Ints = std::int32_t __attribute__((vector_size(4 * lanes)));

inline constexpr Ints own_places = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

template <class Vector, class Value>
inline Vector load(const Value* from) {
  Vector values;
  __builtin_memcpy(&values, from, sizeof values);
  return values;
}

template <class Vector, class Value>
inline void store(Vector values, Value* to) {
  __builtin_memcpy(to, &values, sizeof values);
}

inline Floats nothing() { return Floats{} - __builtin_inff(); }

/// The numbers from i on, with -inf beyond the end.
inline Floats load_at(const float* row, std::size_t i, std::size_t count) {
  if (i + lanes <= count) return load<Floats>(row + i);
#if defined(__AVX512F__)
  const auto there = static_cast<__mmask16>((1U << (count - i)) - 1);
  return reinterpret_cast<Floats>(_mm512_mask_loadu_ps(reinterpret_cast<__m512>(nothing()), there, row + i));
#else
  float values[lanes];
  store(nothing(), values);
  for (std::size_t lane = 0; i + lane < count; ++lane) values[lane] = row[i + lane];
  return load<Floats>(values);
#endif
}

inline void store_at(Floats values, float* row, std::size_t i, std::size_t count) {
  if (i + lanes <= count) return store(values, row + i);
#if defined(__AVX512F__)
  const auto there = static_cast<__mmask16>((1U << (count - i)) - 1);
  _mm512_mask_storeu_ps(row + i, there, reinterpret_cast<__m512>(values));
#else
  float rest[lanes];
  store(values, rest);
  for (std::size_t lane = 0; i + lane < count; ++lane) row[i + lane] = rest[lane];
#endif
}

/// A bit for each lane that is true.
inline std::uint32_t bits_of(Ints truth) {
#if defined(__AVX512F__)
  return _mm512_movepi32_mask(reinterpret_cast<__m512i>(truth));
#elif defined(__AVX2__)
  __m256 halves[2];
  __builtin_memcpy(halves, &truth, sizeof truth);
  return static_cast<std::uint32_t>(_mm256_movemask_ps(halves[0])) |
         static_cast<std::uint32_t>(_mm256_movemask_ps(halves[1])) << 8;
#else
  std::uint32_t bits = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane) bits |= (truth[lane] != 0 ? 1U : 0U) << lane;
  return bits;
#endif
}

/// Combines the lanes, always in the same order.
template <class Combine>
inline float over_lanes(Floats v, const Combine& combine) {
  v = combine(v, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  v = combine(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
  v = combine(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
  v = combine(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
  return v[0];
}

}  // namespace
}  // namespace regroup::REGROUP_KERNELS
