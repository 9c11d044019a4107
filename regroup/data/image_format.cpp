#include "regroup/data/image_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "regroup/core/error.h"
#include "regroup/data/image_file.h"

namespace regroup {
namespace {

DecodedSize stored_size(ImageSize stored, ImageSize) {
  return {stored, static_cast<double>(stored.height), static_cast<double>(stored.width)};
}

constexpr std::array formats{
    ImageFormat{"JPEG", "\xFF\xD8\xFF", "\xFF\xD9", 10'000, jpeg_header, jpeg_decoded_size, decode_jpeg},
    ImageFormat{"PNG", "\x89PNG\r\n\x1A\n", "IEND\xAE\x42\x60\x82", 10'000, png_header, stored_size, decode_png},
    ImageFormat{"WebP", "RIFF????WEBP", "", 100'000, webp_header, stored_size, decode_webp},
};

/// Formats that are known and not decoded.
struct OtherFormat {
  std::string_view name;
  std::string_view signature;
};
constexpr std::array other_formats{
    OtherFormat{"GIF", "GIF8"},
    OtherFormat{"TIFF", std::string_view("II*\0", 4)},
    OtherFormat{"TIFF", std::string_view("MM\0*", 4)},
    OtherFormat{"AVIF", "????ftypavif"},
    OtherFormat{"AVIF", "????ftypavis"},
    OtherFormat{"HEIC", "????ftyphei"},
    OtherFormat{"HEIC", "????ftyphev"},
    OtherFormat{"HEIC", "????ftypmif1"},
    OtherFormat{"HEIC", "????ftypmsf1"},
    OtherFormat{"JPEG XL", "\xFF\x0A"},
    OtherFormat{"JPEG XL", std::string_view("\0\0\0\x0CJXL ", 8)},
    OtherFormat{"JPEG 2000", std::string_view("\0\0\0\x0CjP  ", 8)},
    OtherFormat{"BMP", std::string_view("BM????\0\0\0\0", 10)},
};

bool begins_with(std::span<const std::uint8_t> bytes, std::string_view signature) {
  return bytes.size() >= signature.size() &&
         std::equal(signature.begin(), signature.end(), bytes.begin(), [](char expected, std::uint8_t byte) {
           return expected == '?' || static_cast<char>(byte) == expected;
         });
}

}  // namespace

const ImageFormat& format_of(std::span<const std::uint8_t> bytes, const std::string& name) {
  for (const ImageFormat& format : formats) {
    if (begins_with(bytes, format.signature)) return format;
  }
  for (const OtherFormat& other : other_formats) {
    if (begins_with(bytes, other.signature))
      throw UserError(fmt::format("{}: a {} file; convert it to JPEG, PNG or WebP, or remove it", name, other.name));
  }
  throw UserError(fmt::format("{}: neither a JPEG, a PNG nor a WebP file; convert or remove it", name));
}

void fail_damaged(const std::string& name, const ImageFormat& format, std::string_view reason) {
  throw UserError(fmt::format("{}: damaged {} file ({}); fetch or remove it", name, format.name, reason));
}

ImageHeader read_header(std::span<const std::uint8_t> bytes, const std::string& name, const ImageFormat& format) {
  ImageHeader header;
  CodecError error;
  if (!format.header(bytes, header, error)) fail_damaged(name, format, error.text.data());
  if (header.animated) {
    throw UserError(
        fmt::format("{}: an animated {} file; save one of its pictures instead, or remove it", name, format.name));
  }
  const ImageSize size = header.stored;
  if (size.pixels() > max_image_pixels) {
    throw UserError(fmt::format("{}: {}x{} pixels; at most {} million are read, so make it smaller or remove it", name,
                                size.width, size.height, max_image_pixels / 1'000'000));
  }
  return header;
}

void decode_stored(std::span<const std::uint8_t> bytes, const std::string& name, const ImageFormat& format,
                   const ImageHeader& header, ImageSize wanted, Image& out) {
  const ImageSize stored = header.stored;
  if (stored.pixels() / format.max_pixels_per_byte > bytes.size()) {
    fail_damaged(name, format,
                 fmt::format("{} bytes cannot hold {}x{} pixels", bytes.size(), stored.width, stored.height));
  }
  if (header.file_bytes > bytes.size()) fail_damaged(name, format, "it ends too early");
  out.reshape(format.decoded_size(stored, wanted).size);
  CodecError error;
  if (!format.decode(bytes, header, wanted, out.pixels, error)) fail_damaged(name, format, error.text.data());
}

}  // namespace regroup
