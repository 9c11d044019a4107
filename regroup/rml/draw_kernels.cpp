// Compiled for any processor, with AVX2 and with AVX-512 (see core/simd.h): no inline function of a header may be used
// here.
#include "regroup/rml/draw_kernels.h"

#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace regroup::REGROUP_KERNELS {
namespace {

using Bytes = std::uint8_t __attribute__((vector_size(32)));
using Words = std::uint16_t __attribute__((vector_size(32)));
using Ints = std::int32_t __attribute__((vector_size(32)));
using Floats = float __attribute__((vector_size(32)));
using TwoFloats = float __attribute__((vector_size(64)));
using Doubles = double __attribute__((vector_size(32)));

/// So many groups, the usual number, are counted and summed in one pass.
constexpr int at_once = 6;

template <class Vector, class Element>
inline Vector load(const Element* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

inline Ints widen(const std::uint8_t* bytes) {
#if defined(__AVX2__)
  return reinterpret_cast<Ints>(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes))));
#else
  Ints ints;
  for (int lane = 0; lane < 8; ++lane) ints[lane] = bytes[lane];
  return ints;
#endif
}

/// One bit for each byte, which is 0 or 255.
inline std::uint32_t bits_of(Bytes bytes) {
#if defined(__AVX2__)
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(reinterpret_cast<__m256i>(bytes)));
#else
  std::uint32_t bits = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) bits |= (bytes[lane] & 1U) << lane;
  return bits;
#endif
}

inline std::uint32_t sum_of(Bytes bytes) {
#if defined(__AVX2__)
  const __m256i sums = _mm256_sad_epu8(reinterpret_cast<__m256i>(bytes), _mm256_setzero_si256());
  const __m128i pair = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si64(pair) + _mm_extract_epi64(pair, 1));
#else
  std::uint32_t sum = 0;
  for (int lane = 0; lane < 32; ++lane) sum += bytes[lane];
  return sum;
#endif
}

inline double sum_of(Floats lanes) {
  const Doubles sums = __builtin_convertvector(__builtin_shufflevector(lanes, lanes, 0, 1, 2, 3), Doubles) +
                       __builtin_convertvector(__builtin_shufflevector(lanes, lanes, 4, 5, 6, 7), Doubles);
  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

#if defined(__AVX2__)
/// For each mask of eight values, the places of those that are set.
struct Places {
  std::uint8_t of[256][8] = {};

  constexpr Places() {
    for (int mask = 0; mask < 256; ++mask)
      for (int place = 0, count = 0; place < 8; ++place)
        if ((mask >> place & 1) != 0) of[mask][count++] = static_cast<std::uint8_t>(place);
  }
};

constexpr Places places;
#endif

}  // namespace

std::uint32_t race_bytes(const std::uint8_t* random, const std::uint8_t* sure, const std::uint8_t* heavy,
                         std::size_t count, std::uint32_t* arrived, std::uint32_t* look) {
  int total = 0;
  for (std::size_t i = 0; i < count; i += 32) {
    const auto byte = load<Bytes>(random + i);
    const auto limit = load<Bytes>(sure + i);
    const auto in = reinterpret_cast<Bytes>(byte < limit);
    const auto tied = reinterpret_cast<Bytes>(byte == limit);
    arrived[i / 32] = bits_of(in);
    look[i / 32] = bits_of(tied | (load<Bytes>(heavy + i) & ~in));
    total += __builtin_popcount(arrived[i / 32]);
  }
  return static_cast<std::uint32_t>(total);
}

void compact(const float* values, const std::uint32_t* mask, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; i += 32) {
#if defined(__AVX2__)
    std::uint32_t bits = mask[i / 32];
    for (std::size_t eight = i; eight < i + 32; eight += 8, bits >>= 8) {
      const auto order = reinterpret_cast<__m256i>(widen(places.of[bits & 255]));
      const __m256 packed = _mm256_permutevar8x32_ps(_mm256_loadu_ps(values + eight), order);
      _mm256_storeu_ps(out, packed);
      out += __builtin_popcount(bits & 255);
    }
#else
    for (std::uint32_t bits = mask[i / 32]; bits != 0; bits &= bits - 1) *out++ = values[i + __builtin_ctz(bits)];
#endif
  }
}

void byte_groups(const std::uint8_t* random, int groups, std::size_t count, std::uint8_t* group_of) {
  const auto factor = static_cast<std::uint16_t>(groups);
  for (std::size_t i = 0; i < count; i += 32) {
    // For the even and for the odd bytes of 16 bits.
    const auto pair = load<Words>(random + i);
    const Words even = (pair & 0xff) * factor >> 8;
    const Words odd = (pair >> 8) * factor & 0xff00;
    const Words result = even | odd;
    std::memcpy(group_of + i, &result, sizeof result);
  }
}

void group_sizes(const std::uint8_t* group_of, std::size_t count, int groups, std::uint32_t* sizes) {
  for (int first = 0; first < groups; first += at_once) {
    std::uint32_t totals[at_once] = {};
    // A lane counts up to 255 in a byte.
    constexpr std::size_t chunk = 8160;  // 32 lanes of 255
    for (std::size_t begin = 0; begin < count; begin += chunk) {
      const std::size_t end = begin + chunk < count ? begin + chunk : count;
      Bytes lanes[at_once] = {};
      for (std::size_t i = begin; i < end; i += 32) {
        const Bytes group = load<Bytes>(group_of + i) - static_cast<std::uint8_t>(first);
        // A true comparison is all ones: -1.
        for (int g = 0; g < at_once; ++g) lanes[g] -= reinterpret_cast<Bytes>(group == static_cast<std::uint8_t>(g));
      }
      for (int g = 0; g < at_once; ++g) totals[g] += sum_of(lanes[g]);
    }
    for (int g = 0; g < at_once && first + g < groups; ++g) sizes[first + g] = totals[g];
  }
}

void group_sums(const std::uint8_t* group_of, const float* values, std::size_t count, int groups, double* sums) {
  // Floats are added for a thousand samples at a time, so that rounding does not grow with the class.
  constexpr std::size_t chunk = 1024;
  for (int first = 0; first < groups; first += at_once) {
    double totals[at_once] = {};
    for (std::size_t begin = 0; begin < count; begin += chunk) {
      const std::size_t end = begin + chunk < count ? begin + chunk : count;
#if defined(__AVX512F__)
      // Two groups at a time, one in each half, so that the lanes of a group are the same eight as elsewhere.
      __m512 lanes[at_once / 2] = {};
      __m128i pair[at_once / 2];
      for (int p = 0; p < at_once / 2; ++p)
        pair[p] = _mm_unpacklo_epi64(_mm_set1_epi8(static_cast<char>(first + 2 * p)),
                                     _mm_set1_epi8(static_cast<char>(first + 2 * p + 1)));
      for (std::size_t i = begin; i < end; i += 8) {
        const __m128i group = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(group_of + i));
        const __m128i twice = _mm_unpacklo_epi64(group, group);
        const __m512 eight = _mm512_maskz_broadcast_f32x8(0xffff, _mm256_loadu_ps(values + i));
        for (int p = 0; p < at_once / 2; ++p)
          lanes[p] = _mm512_mask_add_ps(lanes[p], _mm_cmpeq_epi8_mask(twice, pair[p]), lanes[p], eight);
      }
      for (std::size_t p = 0; p < at_once / 2; ++p) {
        const auto both = reinterpret_cast<TwoFloats>(lanes[p]);
        totals[2 * p] += sum_of(__builtin_shufflevector(both, both, 0, 1, 2, 3, 4, 5, 6, 7));
        totals[2 * p + 1] += sum_of(__builtin_shufflevector(both, both, 8, 9, 10, 11, 12, 13, 14, 15));
      }
#else
      Floats lanes[at_once] = {};
      for (std::size_t i = begin; i < end; i += 8) {
        const Ints group = widen(group_of + i) - first;
        const auto bits = load<Ints>(values + i);
        for (int g = 0; g < at_once; ++g) lanes[g] += reinterpret_cast<Floats>(bits & (group == g));
      }
      for (int g = 0; g < at_once; ++g) totals[g] += sum_of(lanes[g]);
#endif
    }
    for (int g = 0; g < at_once && first + g < groups; ++g) sums[first + g] = totals[g];
  }
}

}  // namespace regroup::REGROUP_KERNELS
