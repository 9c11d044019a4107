#include "regroup/data/exif.h"

#include <cstring>
#include <utility>

namespace regroup {
namespace {

/// Reads the numbers of a TIFF block. What lies outside it is 0, which is neither a tag nor an orientation.
class Tiff {
 public:
  explicit Tiff(std::span<const std::uint8_t> bytes) : bytes_(bytes), little_(byte_at(0) == 'I' && byte_at(1) == 'I') {}

  bool is_one() const {
    const bool big = byte_at(0) == 'M' && byte_at(1) == 'M';
    return (little_ || big) && number(2, 2) == 42;
  }

  std::uint32_t number(std::size_t at, std::size_t size) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | byte_at(little_ ? at + size - 1 - i : at + i);
    return value;
  }

 private:
  std::uint32_t byte_at(std::size_t at) const { return at < bytes_.size() ? bytes_[at] : 0; }

  std::span<const std::uint8_t> bytes_;
  bool little_;
};

bool lies_on_its_side(int orientation) { return orientation >= 5; }

}  // namespace

int exif_orientation(std::span<const std::uint8_t> block) {
  constexpr std::uint32_t orientation_tag = 0x0112, short_type = 3;
  constexpr std::size_t entry_bytes = 12;
  const Tiff tiff(block);
  if (!tiff.is_one()) return 1;
  const std::size_t directory = tiff.number(4, 4);
  const std::size_t entries = tiff.number(directory, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * entry_bytes;
    if (tiff.number(entry, 2) != orientation_tag || tiff.number(entry + 2, 2) != short_type) continue;
    const auto orientation = tiff.number(entry + 8, 2);
    return orientation >= 1 && orientation <= 8 ? static_cast<int>(orientation) : 1;
  }
  return 1;
}

ImageSize upright(ImageSize stored, int orientation) {
  return lies_on_its_side(orientation) ? ImageSize{stored.width, stored.height} : stored;
}

void make_upright(const Image& stored, int orientation, Image& image) {
  const bool bottom_first = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool right_first = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  image.reshape(upright(stored.size, orientation));
  // The way through the stored pixels, in bytes: where it starts, and the steps to the next pixel and the next row.
  const std::ptrdiff_t row = std::ptrdiff_t{stored.size.width} * 3;
  const std::ptrdiff_t start = (bottom_first ? (stored.size.height - 1) * row : 0) + (right_first ? row - 3 : 0);
  std::ptrdiff_t right = right_first ? -3 : 3, down = bottom_first ? -row : row;
  if (lies_on_its_side(orientation)) std::swap(right, down);
  const std::uint8_t* from = stored.pixels.data();
  std::uint8_t* out = image.pixels.data();
  for (std::ptrdiff_t y = 0; y < image.size.height; ++y) {
    std::ptrdiff_t at = start + y * down;
    for (int x = 0; x < image.size.width; ++x, out += 3, at += right) std::memcpy(out, from + at, 3);
  }
}

}  // namespace regroup
