#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "regroup/data/image.h"

namespace regroup {

/// The libraries report errors by a jump, over which no destructor runs, so what is between is plain C; a codec returns
/// false and leaves the reason here.
struct CodecError {
  std::array<char, 256> text{};
};

struct ImageHeader {
  ImageSize stored;            ///< before the image is made upright
  int orientation = 1;         ///< of EXIF
  bool animated = false;       ///< several images one after the other
  std::size_t pixels_at = 0;   ///< the place in the file behind the header
  std::size_t file_bytes = 0;  ///< how long the file is, where the header tells it
};

/// Reads the header, checks nothing but that it is one.
bool jpeg_header(std::span<const std::uint8_t> bytes, ImageHeader& header, CodecError& error);
bool png_header(std::span<const std::uint8_t> bytes, ImageHeader& header, CodecError& error);
bool webp_header(std::span<const std::uint8_t> bytes, ImageHeader& header, CodecError& error);

/// What an image is decoded to.
struct DecodedSize {
  ImageSize size;
  double height = 0, width = 0;  ///< what the image takes of it: the last row and column may be there in part
};

/// The size that an image is decoded to where no more than `wanted` of it is needed: at least that, unless the stored
/// image is smaller. Other formats than JPEG are decoded to their stored size.
DecodedSize jpeg_decoded_size(ImageSize stored, ImageSize wanted);

/// Decodes into `pixels`, which has room for an RGB image of that size. `header` is what the header told.
bool decode_jpeg(std::span<const std::uint8_t> bytes, const ImageHeader& header, ImageSize wanted,
                 std::span<std::uint8_t> pixels, CodecError& error);
bool decode_png(std::span<const std::uint8_t> bytes, const ImageHeader& header, ImageSize wanted,
                std::span<std::uint8_t> pixels, CodecError& error);
bool decode_webp(std::span<const std::uint8_t> bytes, const ImageHeader& header, ImageSize wanted,
                 std::span<std::uint8_t> pixels, CodecError& error);

}  // namespace regroup
