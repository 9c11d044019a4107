#pragma once

// For files that are compiled several times (see core/simd.h): all of it is of the file that includes it, since the
// linker would keep one processor's form for everybody.

#include <cstddef>
#include <cstdint>
#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

namespace regroup::REGROUP_KERNELS {
namespace {

template <std::size_t N>
struct VectorTypes;
template <>
struct VectorTypes<8> {
  using Floats = float __attribute__((vector_size(32)));
  using Words = std::uint32_t __attribute__((vector_size(32)));
  using Halves = std::uint16_t __attribute__((vector_size(16)));
};
template <>
struct VectorTypes<16> {
  using Floats = float __attribute__((vector_size(64)));
  using Words = std::uint32_t __attribute__((vector_size(64)));
  using Halves = std::uint16_t __attribute__((vector_size(32)));
};

/// N channels at a time; a compiler without such registers splits them.
template <std::size_t N>
struct Vector {
  using Floats = typename VectorTypes<N>::Floats;
  using Words = typename VectorTypes<N>::Words;
  using Halves = typename VectorTypes<N>::Halves;

  static inline Floats load(const float* from) {
    Floats values;
    __builtin_memcpy(&values, from, sizeof values);
    return values;
  }

  static inline void store(Floats values, float* to) { __builtin_memcpy(to, &values, sizeof values); }

  static inline Floats load(const std::uint16_t* from) {
    Halves halves;
    __builtin_memcpy(&halves, from, sizeof halves);
    return reinterpret_cast<Floats>(__builtin_convertvector(halves, Words) << 16);
  }

  /// To nearest, ties to even.
  static inline void store(Floats values, std::uint16_t* to) {
#ifdef __AVX512BF16__
    // The processor's own conversion takes numbers under 1.2e-38 for 0.
    if constexpr (N == 16) {
      const auto halves = _mm512_cvtneps_pbh(reinterpret_cast<__m512>(values));
      __builtin_memcpy(to, &halves, sizeof halves);
      return;
    }
#endif
    const auto bits = reinterpret_cast<Words>(values);
    const Words rounded = (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
    const Words not_a_number = bits >> 16 | 0x40U;
    const Halves halves = __builtin_convertvector((bits & 0x7fffffffU) > 0x7f800000U ? not_a_number : rounded, Halves);
    __builtin_memcpy(to, &halves, sizeof halves);
  }
};

}  // namespace
}  // namespace regroup::REGROUP_KERNELS
