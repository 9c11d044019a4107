#pragma once

#include <webp/encode.h>

#include <stdexcept>

#include "image_testing.h"

namespace regroup {

/// Takes over what an encoder of the library returned.
inline Bytes taken(std::uint8_t* out, std::size_t size) {
  if (size == 0) throw std::runtime_error("libwebp could not encode");
  Bytes bytes(out, out + size);
  WebPFree(out);
  return bytes;
}

/// A WebP file that keeps every value.
inline Bytes webp_bytes(const Image& image) {
  std::uint8_t* out = nullptr;
  const auto [height, width] = image.size;
  const std::size_t size = WebPEncodeLosslessRGB(image.pixels.data(), width, height, 3 * width, &out);
  return taken(out, size);
}

inline Bytes lossy_webp_bytes(const Image& image, float quality = 90) {
  std::uint8_t* out = nullptr;
  const auto [height, width] = image.size;
  const std::size_t size = WebPEncodeRGB(image.pixels.data(), width, height, 3 * width, quality, &out);
  return taken(out, size);
}

/// Of four values per pixel, the last of which is alpha; kept but for the colour of what is transparent.
inline Bytes transparent_webp_bytes(ImageSize size, const Bytes& values) {
  std::uint8_t* out = nullptr;
  const std::size_t bytes = WebPEncodeLosslessRGBA(values.data(), size.width, size.height, 4 * size.width, &out);
  return taken(out, bytes);
}

inline Bytes little_endian(std::size_t value, int count = 4) {
  Bytes bytes;
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  return bytes;
}

inline Bytes webp_chunk(const std::string& type, const Bytes& content) {
  return Bytes(type.begin(), type.end()) + little_endian(content.size()) + content + Bytes(content.size() % 2);
}

inline Bytes riff(const Bytes& chunks) {
  return Bytes{'R', 'I', 'F', 'F'} + little_endian(4 + chunks.size()) + Bytes{'W', 'E', 'B', 'P'} + chunks;
}

/// An extended file: these flags, the chunk of a simple file, and more.
inline Bytes extended_webp(ImageSize size, std::uint8_t flags, const Bytes& simple, const Bytes& more) {
  const auto width = static_cast<std::size_t>(size.width - 1), height = static_cast<std::size_t>(size.height - 1);
  return riff(webp_chunk("VP8X", Bytes{flags, 0, 0, 0} + little_endian(width, 3) + little_endian(height, 3)) +
              Bytes(simple.begin() + 12, simple.end()) + more);
}

}  // namespace regroup
