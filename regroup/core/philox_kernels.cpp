// Compiled for any processor, with AVX2 and with AVX-512 (see simd.h): no inline function of a header may be used here,
// since the linker would keep one form of it for everybody.
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "regroup/core/philox.h"

namespace regroup::REGROUP_KERNELS {
namespace {

#if defined(__AVX512F__)

/// All blocks of a batch, a word in the low half of each pair.
using Pairs = std::uint64_t __attribute__((vector_size(64)));

inline Pairs multiply(Pairs words, std::uint32_t factor) {
  // All lanes by a mask: GCC warns of the intrinsic without one.
  return reinterpret_cast<Pairs>(
      _mm512_maskz_mul_epu32(0xff, reinterpret_cast<__m512i>(words), _mm512_set1_epi64(factor)));
}

#else

using Pairs = std::uint64_t __attribute__((vector_size(32)));

// The products of the low halves; the high halves of `words` are ignored.
inline Pairs multiply(Pairs words, std::uint32_t factor) {
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
  return (words & 0xffffffffU) * static_cast<std::uint64_t>(factor);
#endif
}

#endif

/// Seven rounds pass every test that ten do (Salmon et al. 2011, table 2), in 70 % of the time.
constexpr std::uint32_t rounds = 7;

struct Keys {
  Pairs low, high;
};

/// Some Philox blocks, a word in the low half of each pair. What is in the high halves does not matter: multiply
/// ignores it.
struct Blocks {
  Pairs x0, x1, x2, x3;

  void round(const Keys& keys) {
    const Pairs first = multiply(x0, 0xD2511F53U);
    const Pairs second = multiply(x2, 0xCD9E8D57U);
    // The keys go to what does not wait for a product.
    x0 = (second >> 32) ^ (x1 ^ keys.low);
    x1 = second;
    x2 = (first >> 32) ^ (x3 ^ keys.high);
    x3 = first;
  }
};

#if defined(__AVX512F__)
inline void store(Pairs words, std::uint32_t* out) {
  using Low = std::uint32_t __attribute__((vector_size(32)));
  const auto low = __builtin_convertvector(words, Low);
  std::memcpy(out, &low, sizeof low);
}
#else
/// Even blocks in the low halves, odd ones in the high halves.
inline void store(Pairs even, Pairs odd, std::uint32_t* out) {
  const Pairs words = (even & 0xffffffffU) | (odd << 32);
  std::memcpy(out, &words, sizeof words);
}
#endif

}  // namespace

void philox_batches(PhiloxCounter counter, std::uint64_t key, std::size_t batches, std::uint32_t* out) {
  Keys keys[rounds];
  for (std::uint32_t round = 0; round < rounds; ++round) {
    keys[round].low = Pairs{} + (static_cast<std::uint32_t>(key) + round * 0x9E3779B9U);
    keys[round].high = Pairs{} + (static_cast<std::uint32_t>(key >> 32) + round * 0xBB67AE85U);
  }
  for (std::size_t batch = 0; batch < batches; ++batch) {
#if defined(__AVX512F__)
    Blocks all = {Pairs{0, 1, 2, 3, 4, 5, 6, 7} + counter.block, Pairs{} + counter.index, Pairs{} + counter.epoch,
                  Pairs{} + counter.purpose};
    for (const Keys& of_round : keys) all.round(of_round);
    store(all.x0, out);
    store(all.x1, out + 8);
    store(all.x2, out + 16);
    store(all.x3, out + 24);
#else
    Blocks even = {Pairs{0, 2, 4, 6} + counter.block, Pairs{} + counter.index, Pairs{} + counter.epoch,
                   Pairs{} + counter.purpose};
    Blocks odd = even;
    odd.x0 += 1;
    for (const Keys& of_round : keys) {
      even.round(of_round);
      odd.round(of_round);
    }
    store(even.x0, odd.x0, out);
    store(even.x1, odd.x1, out + 8);
    store(even.x2, odd.x2, out + 16);
    store(even.x3, odd.x3, out + 24);
#endif
    out += 32;
    counter.block += 8;
  }
}

}  // namespace regroup::REGROUP_KERNELS
