#include "regroup/noise/features.h"

#include <algorithm>
#include <stdexcept>

namespace regroup {

Features pixel_features(std::span<const std::uint8_t> pixels, std::size_t count) {
  if (count == 0 || pixels.size() % count != 0) {
    throw std::invalid_argument("pixel_features: the pixels are not `count` images");
  }
  const std::size_t size = pixels.size() / count;
  return {size, [pixels, size](std::size_t index, std::span<float> row) {
            std::ranges::copy(pixels.subspan(index * size, size), row.begin());
          }};
}

}  // namespace regroup
