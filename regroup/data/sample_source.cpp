#include "regroup/data/sample_source.h"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>
#include <utility>

namespace regroup {

void copy_middle(const SampleView& sample, SampleShape shape, std::span<std::uint8_t> out) {
  const auto pixel = static_cast<std::size_t>(shape.channels);
  const std::size_t from_row = static_cast<std::size_t>(sample.width) * pixel;
  const std::size_t to_row = static_cast<std::size_t>(shape.width) * pixel;
  const auto top = static_cast<std::size_t>((sample.height - shape.height) / 2);
  const auto left = static_cast<std::size_t>((sample.width - shape.width) / 2);
  for (std::size_t y = 0; y < static_cast<std::size_t>(shape.height); ++y)
    std::memcpy(&out[y * to_row], &sample[(top + y) * from_row + left * pixel], to_row);
}

ImagesInMemory::ImagesInMemory(SampleShape shape, std::vector<std::uint8_t> pixels)
    : shape_(shape), pixels_(std::move(pixels)) {
  if (shape.channels < 1 || shape.height < 1 || shape.width < 1 || pixels_.size() % shape.values() != 0)
    throw std::invalid_argument("the pixels are not those of whole images of the size that is said");
}

SampleView ImagesInMemory::read(std::uint32_t index, SampleScratch& /*scratch*/) const {
  if (index >= size()) throw std::out_of_range(fmt::format("image {} of {}", index, size()));
  return {std::span(pixels_).subspan(index * shape_.values(), shape_.values()), shape_.height, shape_.width};
}

}  // namespace regroup
