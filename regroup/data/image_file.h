#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
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
};

/// Whether a file has the name of an image: .jpg, .jpeg or .png, in any case.
bool is_image_name(const std::filesystem::path& name);

/// A larger image is refused.
inline constexpr std::size_t max_image_pixels = 100'000'000;

/// The size that the header of a JPEG or PNG file tells, of the image upright. The start of the file is enough if the
/// header is whole in it. `name` is for the messages. Throws UserError.
ImageSize image_size(std::span<const std::uint8_t> bytes, const std::string& name);

/// Decodes a JPEG or PNG file; which one is told by its first bytes. Grey, palette and CMYK images become RGB, 16 bits
/// are rounded to 8, an alpha channel is dropped; colour profiles and gamma are ignored. The image is turned upright as
/// EXIF says; in a PNG file, EXIF must come before the pixels, as the format demands. An image that is damaged or cut,
/// even if much of it could be shown, throws UserError.
Image decode_image(std::span<const std::uint8_t> bytes, const std::string& name);

/// The same from a file, which must be a regular one of at most 1 GiB.
ImageSize read_image_size(const std::filesystem::path& file);
Image read_image(const std::filesystem::path& file);

}  // namespace regroup
