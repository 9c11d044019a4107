#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "regroup/data/image.h"

namespace regroup {

/// Whether a file has the name of an image: .jpg, .jpeg, .png or .webp, in any case.
bool is_image_name(const std::filesystem::path& name);

/// A larger image is refused.
inline constexpr std::size_t max_image_pixels = 100'000'000;

/// The size that the header of a JPEG, PNG or WebP file tells, of the image upright. The start of the file is enough if
/// the header is whole in it; a WebP file with EXIF, which comes last, must be whole. `name` is for the messages.
/// Throws UserError.
ImageSize image_size(std::span<const std::uint8_t> bytes, const std::string& name);

/// Decodes a JPEG, PNG or WebP file; which one is told by its first bytes. Grey, palette and CMYK images become RGB, 16
/// bits are rounded to 8, what is transparent shows white; colour profiles and gamma are ignored. The image is turned
/// upright as EXIF says; in a PNG file, EXIF must come before the pixels, as the format demands. An image that is
/// damaged or cut, even if much of it could be shown, throws UserError, as an animation does.
Image decode_image(std::span<const std::uint8_t> bytes, const std::string& name);

/// The same from a file, which must be a regular one of at most 1 GiB.
ImageSize read_image_size(const std::filesystem::path& file);
Image read_image(const std::filesystem::path& file);

/// The size by the header, once the end of the file is found to be there: that a file was cut is known without decoding
/// it. Throws UserError.
ImageSize check_image_file(const std::filesystem::path& file);

}  // namespace regroup
