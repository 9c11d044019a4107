#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "regroup/data/image_codecs.h"

namespace regroup {

/// A kind of file that images are decoded from.
struct ImageFormat {
  std::string_view name;
  std::string_view signature;  ///< its first bytes, where ? is any
  std::string_view end;        ///< what a whole file has behind its pixels; empty: its header tells its length
  /// No encoder packs better, so a header that claims more lies, and gets no memory.
  std::size_t max_pixels_per_byte;
  bool (*header)(std::span<const std::uint8_t>, ImageHeader&, CodecError&);
  DecodedSize (*decoded_size)(ImageSize stored, ImageSize wanted);
  bool (*decode)(std::span<const std::uint8_t>, const ImageHeader&, ImageSize wanted, std::span<std::uint8_t>,
                 CodecError&);
};

/// The format that the first bytes of a file tell, whatever its name. Throws UserError, which calls other formats by
/// their names.
const ImageFormat& format_of(std::span<const std::uint8_t> bytes, const std::string& name);

/// Throws that a file of this format is damaged.
[[noreturn]] void fail_damaged(const std::string& name, const ImageFormat& format, std::string_view reason);

/// The header of an image that may be decoded: it has one picture, and not too many pixels.
ImageHeader read_header(std::span<const std::uint8_t> bytes, const std::string& name, const ImageFormat& format);

/// Decodes an image, not upright yet, to at least `wanted`, or to its stored size if that is smaller.
void decode_stored(std::span<const std::uint8_t> bytes, const std::string& name, const ImageFormat& format,
                   const ImageHeader& header, ImageSize wanted, Image& out);

}  // namespace regroup
