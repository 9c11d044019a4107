#pragma once

#include <cstdio>  // jpeglib.h needs it

#include <jpeglib.h>

#include <cstdlib>
#include <utility>

#include "regroup/core/random.h"
#include "regroup/data/image_file.h"
#include "support/data_testing.h"

namespace regroup {

/// An RGB image of random values.
inline Image random_image(ImageSize size, std::uint32_t number) {
  Stream random(1, Purpose::synthetic, 0, number);
  Image image{size, Bytes(size.pixels() * 3)};
  for (auto& value : image.pixels) value = static_cast<std::uint8_t>(random.below(256));
  return image;
}

inline Image plain_image(ImageSize size, std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
  const std::uint8_t colour[] = {red, green, blue};
  Image image{size, Bytes(size.pixels() * 3)};
  for (std::size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = colour[i % 3];
  return image;
}

inline Bytes big_endian(std::uint32_t value) {
  return {static_cast<std::uint8_t>(value >> 24), static_cast<std::uint8_t>(value >> 16),
          static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value)};
}

inline Bytes png_chunk(const std::string& type, const Bytes& content) {
  const Bytes body = Bytes(type.begin(), type.end()) + content;
  return big_endian(static_cast<std::uint32_t>(content.size())) + body +
         big_endian(static_cast<std::uint32_t>(crc32(0, body.data(), static_cast<uInt>(body.size()))));
}

inline Bytes zlib_pack(const Bytes& plain) {
  Bytes packed(compressBound(plain.size()));
  uLongf size = packed.size();
  if (compress(packed.data(), &size, plain.data(), plain.size()) != Z_OK) throw std::runtime_error("compress failed");
  packed.resize(size);
  return packed;
}

inline const Bytes png_signature = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

/// A PNG file of rows that are already in its form, each with its filter byte; `more` comes before the pixels.
inline Bytes png_file(ImageSize size, std::uint8_t bits, std::uint8_t type, const Bytes& rows, const Bytes& more = {},
                      bool interlaced = false) {
  const Bytes header = big_endian(static_cast<std::uint32_t>(size.width)) +
                       big_endian(static_cast<std::uint32_t>(size.height)) +
                       Bytes{bits, type, 0, 0, static_cast<std::uint8_t>(interlaced)};
  return png_signature + png_chunk("IHDR", header) + more + png_chunk("IDAT", zlib_pack(rows)) + png_chunk("IEND", {});
}

inline Bytes png_bytes(const Image& image) {
  Bytes rows;
  const auto width = static_cast<std::ptrdiff_t>(image.size.width) * 3;
  for (int y = 0; y < image.size.height; ++y) {
    rows.push_back(0);
    const auto row = image.pixels.begin() + y * width;
    rows.insert(rows.end(), row, row + width);
  }
  return png_file(image.size, 8, 2, rows);
}

/// A JPEG file of `values`, `channels` a pixel: 1 grey, 3 RGB, 4 CMYK as it is. `scans` are for a progressive one,
/// which otherwise has the usual ones.
inline Bytes jpeg_bytes(ImageSize size, int channels, const Bytes& values, bool progressive = false,
                        const std::vector<jpeg_scan_info>& scans = {}) {
  jpeg_compress_struct library{};
  jpeg_error_mgr errors{};
  library.err = jpeg_std_error(&errors);
  jpeg_create_compress(&library);
  unsigned char* out = nullptr;
  unsigned long out_size = 0;  // NOLINT(google-runtime-int): the library's type
  jpeg_mem_dest(&library, &out, &out_size);
  library.image_width = static_cast<JDIMENSION>(size.width);
  library.image_height = static_cast<JDIMENSION>(size.height);
  library.input_components = channels;
  library.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&library);
  jpeg_set_quality(&library, 95, TRUE);
  if (progressive) jpeg_simple_progression(&library);
  if (!scans.empty()) {
    library.scan_info = scans.data();
    library.num_scans = static_cast<int>(scans.size());
  }
  jpeg_start_compress(&library, TRUE);
  const std::size_t width = static_cast<std::size_t>(size.width) * static_cast<std::size_t>(channels);
  while (library.next_scanline < library.image_height) {
    auto* row = const_cast<std::uint8_t*>(values.data()) + library.next_scanline * width;
    jpeg_write_scanlines(&library, &row, 1);
  }
  jpeg_finish_compress(&library);
  Bytes bytes(out, out + out_size);
  jpeg_destroy_compress(&library);
  std::free(out);  // NOLINT(cppcoreguidelines-no-malloc): the library's memory
  return bytes;
}

inline Bytes jpeg_bytes(const Image& image, bool progressive = false) {
  return jpeg_bytes(image.size, 3, image.pixels, progressive);
}

inline Bytes first_bytes(const Bytes& bytes, std::size_t count) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace regroup
