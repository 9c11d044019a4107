// Compiled once for any processor and once with AVX2 (see simd.h): no inline function of a header may be used here,
// since the linker would keep the AVX2 form of it for everybody.
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "regroup/core/philox.h"

namespace regroup::REGROUP_KERNELS {
namespace {

using Words = std::uint32_t __attribute__((vector_size(32)));
using Pairs = std::uint64_t __attribute__((vector_size(32)));

// The products of the even words; the odd halves of `words` are ignored.
inline Pairs multiply_even(Words words, std::uint32_t factor) {
#if defined(__AVX2__)
  return reinterpret_cast<Pairs>(_mm256_mul_epu32(reinterpret_cast<__m256i>(words), _mm256_set1_epi64x(factor)));
#elif defined(__SSE2__)
  __m128i halves[2];
  std::memcpy(halves, &words, sizeof words);
  for (__m128i& half : halves) half = _mm_mul_epu32(half, _mm_set1_epi64x(factor));
  Pairs result;
  std::memcpy(&result, halves, sizeof result);
  return result;
#else
  return (reinterpret_cast<Pairs>(words) & 0xffffffffU) * static_cast<std::uint64_t>(factor);
#endif
}

struct HighLow {
  Words high, low;
};

inline HighLow multiply(Words words, std::uint32_t factor) {
  constexpr std::uint64_t low_half = 0xffffffffU;
  const Pairs even = multiply_even(words, factor);
  const Pairs odd = multiply_even(reinterpret_cast<Words>(reinterpret_cast<Pairs>(words) >> 32), factor);
  return {reinterpret_cast<Words>((even >> 32) | (odd & ~low_half)),
          reinterpret_cast<Words>((even & low_half) | (odd << 32))};
}

}  // namespace

void philox_batches(PhiloxCounter counter, std::uint64_t key, std::size_t batches, std::uint32_t* out) {
  for (std::size_t batch = 0; batch < batches; ++batch) {
    Words x[4] = {Words{0, 1, 2, 3, 4, 5, 6, 7} + counter.block, Words{} + counter.index, Words{} + counter.epoch,
                  Words{} + counter.purpose};
    auto key_low = static_cast<std::uint32_t>(key);
    auto key_high = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
      const HighLow first = multiply(x[0], 0xD2511F53U);
      const HighLow second = multiply(x[2], 0xCD9E8D57U);
      x[0] = second.high ^ x[1] ^ key_low;
      x[1] = second.low;
      x[2] = first.high ^ x[3] ^ key_high;
      x[3] = first.low;
      key_low += 0x9E3779B9U;
      key_high += 0xBB67AE85U;
    }
    std::memcpy(out, x, sizeof x);
    out += 32;
    counter.block += 8;
  }
}

}  // namespace regroup::REGROUP_KERNELS
