// Compiled once for any processor and once with AVX2 (see core/simd.h): no inline function of a header may be used
// here.
#include "regroup/rml/race_kernels.h"

#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace regroup::REGROUP_KERNELS {
namespace {

using Bytes = std::uint8_t __attribute__((vector_size(32)));
using Ints = std::int32_t __attribute__((vector_size(32)));
using Floats = float __attribute__((vector_size(32)));

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

}  // namespace

void race_bytes(const std::uint8_t* random, const std::uint8_t* group_random, const std::uint8_t* sure,
                const std::uint8_t* maybe, int groups, std::size_t count, std::uint8_t* group_of, std::uint8_t* open) {
  const auto factor = static_cast<std::uint16_t>(groups);
  for (std::size_t i = 0; i < count; ++i) {
    const auto group = static_cast<std::uint8_t>(static_cast<std::uint16_t>(group_random[i] * factor) >> 8);
    const bool drawn = random[i] < sure[i];
    group_of[i] = drawn ? group : 255;
    open[i] = !drawn & (random[i] <= maybe[i]);
  }
}

void group_sizes(const std::uint8_t* group_of, std::size_t count, int groups, std::uint32_t* sizes) {
  for (int group = 0; group < groups; ++group) {
    const auto byte = static_cast<std::uint8_t>(group);
    std::uint32_t size = 0;
    // A lane counts up to 255 in a byte.
    for (std::size_t begin = 0; begin < count; begin += 32 * 255) {
      const std::size_t end = begin + 32 * 255 < count ? begin + 32 * 255 : count;
      Bytes lanes = {};
      for (std::size_t i = begin; i < end; i += 32)
        lanes -= reinterpret_cast<Bytes>(load<Bytes>(group_of + i) == byte);  // a true comparison is all ones: -1
      for (int lane = 0; lane < 32; ++lane) size += lanes[lane];
    }
    sizes[group] = size;
  }
}

void group_sums(const std::uint8_t* group_of, const float* values, std::size_t count, int groups, double* sums) {
  for (int group = 0; group < groups; ++group) sums[group] = 0;
  // Floats are added for a thousand samples at a time, so that rounding does not grow with the class.
  constexpr std::size_t chunk = 1024;
  for (std::size_t begin = 0; begin < count; begin += chunk) {
    const std::size_t end = begin + chunk < count ? begin + chunk : count;
    for (int group = 0; group < groups; ++group) {
      Floats lanes[4] = {};
      for (std::size_t i = begin; i < end; i += 32) {
        for (std::size_t part = 0; part < 4; ++part) {
          const Ints in_group = widen(group_of + i + 8 * part) == group;
          const Ints bits = load<Ints>(values + i + 8 * part);
          lanes[part] += reinterpret_cast<Floats>(bits & in_group);
        }
      }
      const Floats total = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
      for (int lane = 0; lane < 8; ++lane) sums[group] += static_cast<double>(total[lane]);
    }
  }
}

}  // namespace regroup::REGROUP_KERNELS
