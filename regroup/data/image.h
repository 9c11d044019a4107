#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace regroup {

struct ImageSize {
  int height = 0;
  int width = 0;

  friend bool operator==(const ImageSize&, const ImageSize&) = default;
  std::size_t pixels() const { return static_cast<std::size_t>(height) * static_cast<std::size_t>(width); }
};

/// An image in red, green and blue: row by row, the three values of a pixel side by side.
struct Image {
  ImageSize size;
  std::vector<std::uint8_t> pixels;

  /// Memory that was there before is used again; the values of the pixels are whatever they are.
  void reshape(ImageSize to) {
    size = to;
    pixels.resize(to.pixels() * 3);
  }
};

/// An image in memory that somebody else owns, whole or a part of a larger one.
struct ImageView {
  const std::uint8_t* pixels = nullptr;
  ImageSize size;
  std::size_t stride = 0;  ///< bytes from one row to the next

  ImageView() = default;
  ImageView(const std::uint8_t* first, ImageSize shape)
      : pixels(first), size(shape), stride(static_cast<std::size_t>(shape.width) * 3) {}
  ImageView(const Image& image) : ImageView(image.pixels.data(), image.size) {}  // NOLINT(google-explicit-constructor)
};

}  // namespace regroup
