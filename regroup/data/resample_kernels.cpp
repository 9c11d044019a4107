// Compiled once for any processor and once with AVX2 (see core/simd.h): no inline function of a header may be used
// here.
#include "regroup/data/resample_kernels.h"

#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace regroup::REGROUP_KERNELS {
namespace {

constexpr int row_half = 1 << (weight_bits - sum_bits - 1);
constexpr int column_shift = weight_bits + sum_bits;
constexpr int column_half = 1 << (column_shift - 1);

inline std::int16_t sum_of_rows(const std::uint8_t* const* rows, const std::int16_t* weights, std::size_t taps,
                                std::size_t at) {
  int sum = row_half;
  for (std::size_t tap = 0; tap < taps; ++tap) sum += int{rows[tap][at]} * weights[tap];
  return static_cast<std::int16_t>(sum >> (weight_bits - sum_bits));
}

#if defined(__SSE2__)

/// Two weights side by side, as the instruction that multiplies and adds pairs takes them.
inline int pair_at(const std::int16_t* weights) {
  int pair;
  std::memcpy(&pair, weights, sizeof pair);
  return pair;
}

#endif

#if defined(__AVX2__)

using Vector = __m256i;
constexpr std::size_t row_lanes = 32;

inline Vector zero() { return _mm256_setzero_si256(); }
inline Vector all(int value) { return _mm256_set1_epi32(value); }
inline Vector load(const std::uint8_t* from) { return _mm256_loadu_si256(reinterpret_cast<const Vector*>(from)); }
inline Vector low_bytes(Vector a, Vector b) { return _mm256_unpacklo_epi8(a, b); }
inline Vector high_bytes(Vector a, Vector b) { return _mm256_unpackhi_epi8(a, b); }
inline Vector multiply_add(Vector sum, Vector a, Vector b) { return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b)); }
inline Vector shift(Vector a) { return _mm256_srai_epi32(a, weight_bits - sum_bits); }

/// Each vector has one half of the first 16 bytes and one half of the second 16 bytes.
inline void store(Vector first, Vector second, std::int16_t* to) {
  _mm256_storeu_si256(reinterpret_cast<Vector*>(to), _mm256_permute2x128_si256(first, second, 0x20));
  _mm256_storeu_si256(reinterpret_cast<Vector*>(to + 16), _mm256_permute2x128_si256(first, second, 0x31));
}
inline Vector narrow(Vector a, Vector b) { return _mm256_packs_epi32(a, b); }

#elif defined(__SSE2__)

using Vector = __m128i;
constexpr std::size_t row_lanes = 16;

inline Vector zero() { return _mm_setzero_si128(); }
inline Vector all(int value) { return _mm_set1_epi32(value); }
inline Vector load(const std::uint8_t* from) { return _mm_loadu_si128(reinterpret_cast<const Vector*>(from)); }
inline Vector low_bytes(Vector a, Vector b) { return _mm_unpacklo_epi8(a, b); }
inline Vector high_bytes(Vector a, Vector b) { return _mm_unpackhi_epi8(a, b); }
inline Vector multiply_add(Vector sum, Vector a, Vector b) { return _mm_add_epi32(sum, _mm_madd_epi16(a, b)); }
inline Vector shift(Vector a) { return _mm_srai_epi32(a, weight_bits - sum_bits); }
inline void store(Vector first, Vector second, std::int16_t* to) {
  _mm_storeu_si128(reinterpret_cast<Vector*>(to), first);
  _mm_storeu_si128(reinterpret_cast<Vector*>(to + 8), second);
}
inline Vector narrow(Vector a, Vector b) { return _mm_packs_epi32(a, b); }

#endif

#if defined(__SSE2__)

/// row_lanes sums from `at` on.
inline void sum_block(const std::uint8_t* const* rows, const std::int16_t* weights, std::size_t taps, std::size_t at,
                      std::int16_t* sums) {
  Vector a = all(row_half), b = a, c = a, d = a;
  for (std::size_t tap = 0; tap < taps; tap += 2) {
    const Vector pair = all(pair_at(weights + tap));
    const Vector first = load(rows[tap] + at), second = load(rows[tap + 1] + at);
    const Vector low = low_bytes(first, second), high = high_bytes(first, second);
    a = multiply_add(a, low_bytes(low, zero()), pair);
    b = multiply_add(b, high_bytes(low, zero()), pair);
    c = multiply_add(c, low_bytes(high, zero()), pair);
    d = multiply_add(d, high_bytes(high, zero()), pair);
  }
  store(narrow(shift(a), shift(b)), narrow(shift(c), shift(d)), sums + at);
}

/// The pixels at `sums` and behind it, their channels side by side, times their two weights.
inline __m128i weigh_two(const std::int16_t* sums, int pair) {
  const __m128i both = _mm_loadu_si128(reinterpret_cast<const __m128i*>(sums));
  return _mm_madd_epi16(_mm_unpacklo_epi16(both, _mm_srli_si128(both, 6)), _mm_set1_epi32(pair));
}

/// The three values in the low bytes.
inline int sum_pixel(const std::int16_t* sums, const std::int16_t* weights, std::size_t taps) {
  __m128i sum = _mm_set1_epi32(column_half);
  for (std::size_t tap = 0; tap < taps; tap += 2)
    sum = _mm_add_epi32(sum, weigh_two(sums + 3 * tap, pair_at(weights + tap)));
  const __m128i words = _mm_packs_epi32(_mm_srai_epi32(sum, column_shift), sum);
  return _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
}

#else

inline int sum_pixel(const std::int16_t* sums, const std::int16_t* weights, std::size_t taps) {
  int values[3] = {column_half, column_half, column_half};
  for (std::size_t tap = 0; tap < taps; ++tap) {
    for (std::size_t c = 0; c < 3; ++c) values[c] += int{sums[3 * tap + c]} * weights[tap];
  }
  return values[0] >> column_shift | (values[1] >> column_shift) << 8 | (values[2] >> column_shift) << 16;
}

#endif

/// With a number of taps that the compiler knows, it leaves out the loop.
template <std::size_t known_taps>
inline void sum_all_columns(const std::int16_t* sums, const std::int32_t* first, const std::int16_t* weights,
                            std::size_t taps, std::size_t pixels, std::uint8_t* out) {
  if (known_taps != 0) taps = known_taps;
  std::size_t i = 0;
  // Four bytes are one instruction; the fourth one is overwritten by the next pixel.
  for (; i + 1 < pixels; ++i) {
    const int values = sum_pixel(sums + 3 * std::size_t(first[i]), weights + i * taps, taps);
    std::memcpy(out + 3 * i, &values, 4);
  }
  if (i < pixels) {
    const int values = sum_pixel(sums + 3 * std::size_t(first[i]), weights + i * taps, taps);
    std::memcpy(out + 3 * i, &values, 3);
  }
}

}  // namespace

void sum_rows(const std::uint8_t* const* rows, const std::int16_t* weights, std::size_t taps, std::size_t count,
              std::int16_t* sums) {
  std::size_t i = 0;
#if defined(__SSE2__)
  for (; i + row_lanes <= count; i += row_lanes) sum_block(rows, weights, taps, i, sums);
  // The last block overlaps the one before it.
  if (i < count && count >= row_lanes) {
    sum_block(rows, weights, taps, count - row_lanes, sums);
    i = count;
  }
#endif
  for (; i < count; ++i) sums[i] = sum_of_rows(rows, weights, taps, i);
}

void sum_columns(const std::int16_t* sums, const std::int32_t* first, const std::int16_t* weights, std::size_t taps,
                 std::size_t pixels, std::uint8_t* out) {
  switch (taps) {
    case 2:
      return sum_all_columns<2>(sums, first, weights, taps, pixels, out);
    case 4:
      return sum_all_columns<4>(sums, first, weights, taps, pixels, out);
    default:
      return sum_all_columns<0>(sums, first, weights, taps, pixels, out);
  }
}

}  // namespace regroup::REGROUP_KERNELS
