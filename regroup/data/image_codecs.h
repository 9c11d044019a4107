#pragma once

#include <array>
#include <span>

#include "regroup/data/image_file.h"

namespace regroup {

/// The libraries report errors by a jump, over which no destructor runs, so what is between is plain C; a codec returns
/// false and leaves the reason here.
struct CodecError {
  std::array<char, 256> text{};
};

struct ImageHeader {
  ImageSize stored;     ///< before the image is made upright
  int orientation = 1;  ///< of EXIF
};

/// Reads the header, checks nothing but that it is one.
bool jpeg_header(std::span<const std::uint8_t> bytes, ImageHeader& header, CodecError& error);
bool png_header(std::span<const std::uint8_t> bytes, ImageHeader& header, CodecError& error);

/// Decodes into `pixels`, which has room for an RGB image of the stored size, as the header told it.
bool decode_jpeg(std::span<const std::uint8_t> bytes, ImageSize size, std::span<std::uint8_t> pixels,
                 CodecError& error);
bool decode_png(std::span<const std::uint8_t> bytes, ImageSize size, std::span<std::uint8_t> pixels, CodecError& error);

}  // namespace regroup
