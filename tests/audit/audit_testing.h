#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "regroup/core/random.h"
#include "regroup/data/image.h"
#include "regroup/data/sample_source.h"

namespace regroup {

inline std::uint8_t level(double value) { return static_cast<std::uint8_t>(std::clamp(std::round(value), 0.0, 255.0)); }

/// Waves of several lengths in all directions, in colours: each `number` is another picture.
inline Image made_picture(std::uint32_t number, int side = 32) {
  constexpr int waves = 12;
  Stream random(7, Purpose::synthetic, 0, number);
  Image image;
  image.reshape({side, side});
  std::vector<double> values(image.pixels.size(), 128);
  for (int wave = 0; wave < waves; ++wave) {
    const double angle = random.uniform() * std::numbers::pi, phase = random.uniform() * 2 * std::numbers::pi;
    const double turns = 0.5 + 4 * random.uniform();
    const std::vector<double> heights = {10 + 12 * random.uniform(), 10 + 12 * random.uniform(),
                                         10 + 12 * random.uniform()};
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        const double along = (x * std::cos(angle) + y * std::sin(angle)) / side;
        const double wave_height = std::sin(2 * std::numbers::pi * turns * along + phase);
        for (int c = 0; c < 3; ++c)
          values[static_cast<std::size_t>((y * side + x) * 3 + c)] +=
              heights[static_cast<std::size_t>(c)] * wave_height;
      }
    }
  }
  std::ranges::transform(values, image.pixels.begin(), level);
  return image;
}

inline Image mirror_image(const Image& image) {
  Image out = image;
  for (int y = 0; y < image.size.height; ++y) {
    for (int x = 0; x < image.size.width; ++x) {
      const auto from = static_cast<std::size_t>((y * image.size.width + x) * 3);
      const auto to = static_cast<std::size_t>((y * image.size.width + image.size.width - 1 - x) * 3);
      std::copy_n(image.pixels.begin() + static_cast<std::ptrdiff_t>(from), 3,
                  out.pixels.begin() + static_cast<std::ptrdiff_t>(to));
    }
  }
  return out;
}

inline Image brighter(Image image, double gain = 1.1, double more = 8) {
  for (std::uint8_t& value : image.pixels) value = level(gain * value + more);
  return image;
}

/// Each value is changed by up to `most`, as an encoder does.
inline Image grainy(Image image, std::uint32_t number, int most = 6) {
  Stream random(8, Purpose::synthetic, 0, number);
  for (std::uint8_t& value : image.pixels)
    value = level(value + static_cast<int>(random.below(static_cast<std::uint32_t>(2 * most + 1))) - most);
  return image;
}

/// Halved in size and doubled again.
inline Image coarser(Image image) {
  const auto width = static_cast<std::size_t>(image.size.width);
  const Image fine = image;
  for (std::size_t i = 0; i < fine.pixels.size(); ++i) {
    const std::size_t c = i % 3, x = i / 3 % width / 2 * 2, y = i / 3 / width / 2 * 2;
    const auto at = [&](std::size_t row, std::size_t column) { return fine.pixels[(row * width + column) * 3 + c]; };
    image.pixels[i] = level((at(y, x) + at(y, x + 1) + at(y + 1, x) + at(y + 1, x + 1)) / 4.0);
  }
  return image;
}

inline Image plain(std::uint8_t value, int side = 32) {
  Image image;
  image.reshape({side, side});
  std::ranges::fill(image.pixels, value);
  return image;
}

inline ImagesInMemory source_of(const std::vector<Image>& images) {
  std::vector<std::uint8_t> pixels;
  for (const Image& image : images) pixels.insert(pixels.end(), image.pixels.begin(), image.pixels.end());
  return {{3, images[0].size.height, images[0].size.width}, std::move(pixels)};
}

}  // namespace regroup
