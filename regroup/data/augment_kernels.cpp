// Compiled once for any processor and once with AVX2 (see core/simd.h): no inline function of a header may be used
// here.
#include "regroup/data/augment_kernels.h"

#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace regroup::REGROUP_KERNELS {
namespace {

constexpr std::size_t lanes = 8;
using Ints = std::int32_t __attribute__((vector_size(4 * lanes)));
using Floats = float __attribute__((vector_size(4 * lanes)));
using Halves = std::int16_t __attribute__((vector_size(2 * lanes)));

inline Floats load(const float* from) {
  Floats floats;
  std::memcpy(&floats, from, sizeof floats);
  return floats;
}

inline Ints widen(const std::uint8_t* bytes) {
#if defined(__AVX2__)
  return reinterpret_cast<Ints>(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes))));
#elif defined(__SSE2__)
  const __m128i zero = _mm_setzero_si128();
  const __m128i words = _mm_unpacklo_epi8(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)), zero);
  const __m128i halves[2] = {_mm_unpacklo_epi16(words, zero), _mm_unpackhi_epi16(words, zero)};
  Ints ints;
  std::memcpy(&ints, halves, sizeof ints);
  return ints;
#else
  Ints ints;
  for (std::size_t lane = 0; lane < lanes; ++lane) ints[lane] = bytes[lane];
  return ints;
#endif
}

/// Of integers that fit.
inline Halves narrow(Ints ints) {
#if defined(__SSE2__)
  __m128i halves[2];
  std::memcpy(halves, &ints, sizeof ints);
  return reinterpret_cast<Halves>(_mm_packs_epi32(halves[0], halves[1]));
#else
  return __builtin_convertvector(ints, Halves);
#endif
}

struct ToFloat {
  static Floats many(Floats values) { return values; }
  static float one(float value) { return value; }
};

/// The upper half of a float, rounded to nearest, ties to even. Values are finite.
struct ToBfloat {
  static Halves many(Floats values) {
    const auto bits = reinterpret_cast<Ints>(values);
    return narrow((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
  }
  static std::uint16_t one(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
  }
};

template <class Conversion>
inline void normalise(const std::uint8_t* in, std::size_t count, const float* scale, const float* offset,
                      std::byte* out) {
  std::size_t i = 0;
  std::size_t phase = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto values = __builtin_convertvector(widen(in + i), Floats);
    const auto result = Conversion::many(values * load(scale + phase) + load(offset + phase));
    std::memcpy(out, &result, sizeof result);
    out += sizeof result;
    phase = phase + lanes == channel_period ? 0 : phase + lanes;
  }
  for (; i < count; ++i, ++phase) {
    const auto result = Conversion::one(static_cast<float>(in[i]) * scale[phase] + offset[phase]);
    std::memcpy(out, &result, sizeof result);
    out += sizeof result;
  }
}

template <std::size_t channels>
inline void mirror_pixels(const std::uint8_t* in, std::size_t pixels, std::uint8_t* out) {
  const std::uint8_t* from = in + pixels * channels;
  for (std::size_t i = 0; i < pixels; ++i) {
    from -= channels;
    std::memcpy(out + i * channels, from, channels);
  }
}

}  // namespace

void normalise_float(const std::uint8_t* in, std::size_t count, const float* scale, const float* offset,
                     std::byte* out) {
  normalise<ToFloat>(in, count, scale, offset, out);
}

void normalise_bfloat(const std::uint8_t* in, std::size_t count, const float* scale, const float* offset,
                      std::byte* out) {
  normalise<ToBfloat>(in, count, scale, offset, out);
}

void mirror(const std::uint8_t* in, std::size_t pixels, int channels, std::uint8_t* out) {
  switch (channels) {
    case 1:
      return mirror_pixels<1>(in, pixels, out);
    case 2:
      return mirror_pixels<2>(in, pixels, out);
    case 3:
      return mirror_pixels<3>(in, pixels, out);
    default:
      return mirror_pixels<4>(in, pixels, out);
  }
}

}  // namespace regroup::REGROUP_KERNELS
