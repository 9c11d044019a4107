// WebP by libwebp.
#include <webp/decode.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "regroup/data/exif.h"
#include "regroup/data/image_codecs.h"

namespace regroup {
namespace {

// RIFF, the length of what follows, WEBP; then chunks: type, length, content, filled up to an even length.
constexpr std::size_t riff_bytes = 12, frame_bytes = 8;

bool fail(CodecError& error, const char* reason) {
  std::snprintf(error.text.data(), error.text.size(), "%s", reason);
  return false;
}

const char* reason_of(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
      return "it ends too early";
    case VP8_STATUS_OUT_OF_MEMORY:
      return "not enough memory for it";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "the library does not read this kind";
    default:
      return "its data makes no sense";
  }
}

std::size_t length_at(std::span<const std::uint8_t> bytes, std::size_t at) {
  std::size_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | bytes[at + i];
  return value;
}

std::string_view text_at(std::span<const std::uint8_t> bytes, std::size_t at, std::size_t length) {
  return {reinterpret_cast<const char*>(bytes.data()) + at, length};
}

/// The EXIF block of an extended file, which says in its first chunk whether it has one. It follows the pixels, so the
/// file must be whole. Some programs put JPEG's signature before the block.
bool find_orientation(std::span<const std::uint8_t> bytes, std::size_t file_bytes, int& orientation) {
  constexpr std::size_t flags_at = riff_bytes + frame_bytes;
  constexpr std::uint8_t has_exif = 0x08;
  if (bytes.size() <= flags_at || text_at(bytes, riff_bytes, 4) != "VP8X" || (bytes[flags_at] & has_exif) == 0)
    return true;
  if (bytes.size() < file_bytes) return false;
  auto rest = bytes.first(file_bytes).subspan(riff_bytes);
  while (rest.size() >= frame_bytes) {
    const std::size_t length = length_at(rest, 4), padded = length + length % 2;
    if (length > rest.size() - frame_bytes) break;
    if (text_at(rest, 0, 4) == "EXIF") {
      constexpr std::string_view jpeg_signature("Exif\0\0", 6);
      auto block = rest.subspan(frame_bytes, length);
      if (length >= jpeg_signature.size() && text_at(block, 0, jpeg_signature.size()) == jpeg_signature)
        block = block.subspan(jpeg_signature.size());
      orientation = exif_orientation(block);
      break;
    }
    rest = rest.subspan(std::min(rest.size(), frame_bytes + padded));
  }
  return true;
}

/// What the library gives and must be freed. Its scaling is not used: it is slower than ours.
struct Output {
  WebPDecoderConfig config{};

  Output() { WebPInitDecoderConfig(&config); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() { WebPFreeDecBuffer(&config.output); }
};

/// What is transparent shows white.
void over_white(const std::uint8_t* rgba, std::size_t pixels, std::uint8_t* rgb) {
  for (std::size_t i = 0; i < pixels; ++i, rgba += 4, rgb += 3) {
    const int alpha = rgba[3];
    for (int c = 0; c < 3; ++c) rgb[c] = static_cast<std::uint8_t>((rgba[c] * alpha + 255 * (255 - alpha) + 127) / 255);
  }
}

}  // namespace

bool webp_header(std::span<const std::uint8_t> bytes, ImageHeader& header, CodecError& error) {
  WebPBitstreamFeatures features;
  const VP8StatusCode status = WebPGetFeatures(bytes.data(), bytes.size(), &features);
  if (status != VP8_STATUS_OK) return fail(error, reason_of(status));
  header.stored = {features.height, features.width};
  header.animated = features.has_animation != 0;
  const std::size_t length = length_at(bytes, 4);
  header.file_bytes = frame_bytes + length;
  if (!find_orientation(bytes, header.file_bytes, header.orientation)) return fail(error, "it ends too early");
  return true;
}

bool decode_webp(std::span<const std::uint8_t> bytes, const ImageHeader& header, ImageSize,
                 std::span<std::uint8_t> pixels, CodecError& error) {
  Output output;
  WebPDecoderConfig& config = output.config;
  if (const auto status = WebPGetFeatures(bytes.data(), bytes.size(), &config.input); status != VP8_STATUS_OK)
    return fail(error, reason_of(status));
  const bool transparent = config.input.has_alpha != 0;
  config.output.colorspace = transparent ? MODE_RGBA : MODE_RGB;
  if (!transparent) {
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = pixels.data();
    config.output.u.RGBA.stride = header.stored.width * 3;
    config.output.u.RGBA.size = pixels.size();
  }
  const VP8StatusCode status = WebPDecode(bytes.data(), bytes.size(), &config);
  if (status != VP8_STATUS_OK) return fail(error, reason_of(status));
  if (transparent) over_white(config.output.u.RGBA.rgba, header.stored.pixels(), pixels.data());
  return true;
}

}  // namespace regroup
