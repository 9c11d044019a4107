#include "regroup/data/sample_source.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace regroup {

ImagesInMemory::ImagesInMemory(SampleShape shape, std::vector<std::uint8_t> pixels)
    : shape_(shape), pixels_(std::move(pixels)) {
  if (shape.channels < 1 || shape.height < 1 || shape.width < 1 || pixels_.size() % shape.bytes() != 0)
    throw std::invalid_argument("the pixels are not those of whole images of the size that is said");
}

std::span<const std::uint8_t> ImagesInMemory::read(std::uint32_t index, std::vector<std::uint8_t>& /*scratch*/) const {
  if (index >= size()) throw std::out_of_range(fmt::format("image {} of {}", index, size()));
  return std::span(pixels_).subspan(index * shape_.bytes(), shape_.bytes());
}

}  // namespace regroup
