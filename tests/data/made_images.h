#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "regroup/core/random.h"
#include "regroup/data/dataset.h"

namespace regroup {

inline ImageSet black_images(int count, int channels, int height, int width) {
  ImageSet images;
  images.count = count;
  images.channels = channels;
  images.height = height;
  images.width = width;
  images.pixels.resize(static_cast<std::size_t>(count) * images.image_bytes());
  return images;
}

inline ImageSet random_images(int count, int channels, int height, int width) {
  ImageSet images = black_images(count, channels, height, width);
  Stream stream(1, Purpose::synthetic);
  for (auto& pixel : images.pixels) pixel = static_cast<std::uint8_t>(stream.below(256));
  return images;
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
