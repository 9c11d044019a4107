#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "regroup/core/random.h"
#include "regroup/data/sample_source.h"

namespace regroup {

inline std::vector<std::uint8_t> random_bytes(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  Stream stream(1, Purpose::synthetic);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(stream.below(256));
  return bytes;
}

inline ImagesInMemory random_images(std::size_t count, SampleShape shape) {
  return {shape, random_bytes(count * shape.values())};
}

/// All bytes of a source.
inline std::vector<std::uint8_t> pixels_of(const SampleSource& source) {
  std::vector<std::uint8_t> bytes;
  SampleScratch scratch;
  for (std::uint32_t i = 0; i < source.size(); ++i) {
    const auto sample = source.read(i, scratch);
    bytes.insert(bytes.end(), sample.begin(), sample.end());
  }
  return bytes;
}

/// The nearer of the two neighbours that have 8 significant bits; of two equally near ones, the one with an even last
/// bit.
inline float slow_bfloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto toward_zero = std::bit_cast<float>(bits & 0xffff0000U);
  const auto away = std::bit_cast<float>((bits & 0xffff0000U) + 0x10000U);
  const double down = std::abs(double{value} - double{toward_zero});
  const double up = std::abs(double{away} - double{value});
  if (down == up) return (bits & 0x10000U) == 0 ? toward_zero : away;
  return down < up ? toward_zero : away;
}

}  // namespace regroup
