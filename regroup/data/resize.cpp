#include "regroup/data/resize.h"

#include <algorithm>
#include <stdexcept>

namespace regroup {

void resize_to_cover(const Image& image, ImageSize size, std::span<std::uint8_t> out, ResampleScratch& scratch) {
  if (image.size.pixels() == 0 || size.pixels() == 0 || image.pixels.size() != 3 * image.size.pixels() ||
      out.size() != 3 * size.pixels())
    throw std::invalid_argument("resize_to_cover: an image is empty or has another size than it says");
  if (image.size == size) {
    std::copy(image.pixels.begin(), image.pixels.end(), out.begin());
    return;
  }
  const double step = std::min(static_cast<double>(image.size.height) / size.height,
                               static_cast<double>(image.size.width) / size.width);
  const double height = size.height * step, width = size.width * step;
  resample(image, {(image.size.height - height) / 2, (image.size.width - width) / 2, height, width}, size, out,
           scratch);
}

void resize_to_cover(const Image& image, ImageSize size, std::span<std::uint8_t> out) {
  ResampleScratch scratch;
  resize_to_cover(image, size, out, scratch);
}

}  // namespace regroup
