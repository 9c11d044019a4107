#include "regroup/noise/features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

namespace regroup {
namespace {

using Lookup = std::array<float, 256>;

/// The feature of every possible byte of one channel.
Lookup normalising_lookup(std::span<const std::uint8_t> pixels, std::size_t channel, std::size_t channels) {
  // Sums of integers: exact, so the order of the images does not matter.
  std::uint64_t sum = 0;
  std::uint64_t squares = 0;
  for (std::size_t i = channel; i < pixels.size(); i += channels) {
    const std::uint64_t value = pixels[i];
    sum += value;
    squares += value * value;
  }
  const double count = static_cast<double>(pixels.size()) / static_cast<double>(channels);
  const double mean = static_cast<double>(sum) / count;
  const double deviation = std::sqrt(std::max(0.0, static_cast<double>(squares) / count - mean * mean));
  // A channel that is the same everywhere says nothing about an image.
  const double scale = deviation > 0 ? 1 / deviation : 0;
  Lookup lookup{};
  for (std::size_t byte = 0; byte < lookup.size(); ++byte) {
    lookup[byte] = static_cast<float>((static_cast<double>(byte) - mean) * scale);
  }
  return lookup;
}

}  // namespace

Features pixel_features(std::span<const std::uint8_t> pixels, std::size_t count, std::size_t channels) {
  if (count == 0 || channels == 0 || pixels.size() % (count * channels) != 0) {
    throw std::invalid_argument("pixel_features: the pixels are not `count` images of `channels` channels");
  }
  std::vector<Lookup> lookups;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    lookups.push_back(normalising_lookup(pixels, channel, channels));
  }
  const std::size_t size = pixels.size() / count;
  return {size, [pixels, size, lookups = std::move(lookups)](std::size_t index, std::span<float> row) {
            const auto image = pixels.subspan(index * size, size);
            for (std::size_t i = 0; i < size; i += lookups.size()) {
              for (std::size_t channel = 0; channel < lookups.size(); ++channel) {
                row[i + channel] = lookups[channel][image[i + channel]];
              }
            }
          }};
}

}  // namespace regroup
