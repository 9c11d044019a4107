// PNG by libpng.
#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <new>
#include <string_view>

#include "regroup/data/exif.h"
#include "regroup/data/image_codecs.h"

namespace regroup {
namespace {

struct Decoder {
  png_structp library = nullptr;
  png_infop info = nullptr;
  std::span<const std::uint8_t> rest;
  CodecError* error;

  Decoder(std::span<const std::uint8_t> bytes, CodecError& reason);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { png_destroy_read_struct(&library, &info, nullptr); }
};

[[noreturn]] void on_error(png_structp library, png_const_charp message) {
  CodecError& error = *static_cast<Decoder*>(png_get_error_ptr(library))->error;
  std::strncpy(error.text.data(), message, error.text.size() - 1);
  png_longjmp(library, 1);
}

/// Warnings are about chunks that are not read here; where the pixels are damaged, the library gives an error.
void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp library, png_bytep into, std::size_t count) {
  auto& rest = static_cast<Decoder*>(png_get_io_ptr(library))->rest;
  if (rest.size() < count) png_error(library, "it ends too early");
  std::copy_n(rest.begin(), count, into);
  rest = rest.subspan(count);
}

Decoder::Decoder(std::span<const std::uint8_t> bytes, CodecError& reason) : rest(bytes), error(&reason) {
  library = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
  if (library != nullptr) info = png_create_info_struct(library);
  if (info == nullptr) throw std::bad_alloc();
  png_set_read_fn(library, this, on_read);
}

/// Everything up to the pixels. To be called after setjmp.
void start(const Decoder& decoder) {
  // Of the chunks, only those that say what the pixels are: no texts, profiles or times that could be hostile.
  png_set_keep_unknown_chunks(decoder.library, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_set_user_limits(decoder.library, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // the caller has its own, on the product
  png_read_info(decoder.library, decoder.info);
}

void decode_rows(const Decoder& decoder, ImageSize size, std::uint8_t* pixels) {
  png_set_expand(decoder.library);
  png_set_scale_16(decoder.library);
  png_set_gray_to_rgb(decoder.library);
  // Where there is no alpha, this changes nothing. The colour has as many bits as the file.
  const png_uint_16 white = png_get_bit_depth(decoder.library, decoder.info) == 16 ? 0xFFFF : 0xFF;
  const png_color_16 background{0, white, white, white, white};
  png_set_background(decoder.library, &background, PNG_BACKGROUND_GAMMA_SCREEN, 0, 1.0);
  const int passes = png_set_interlace_handling(decoder.library);
  png_read_update_info(decoder.library, decoder.info);
  const auto row_bytes = static_cast<std::size_t>(size.width) * 3;
  if (png_get_rowbytes(decoder.library, decoder.info) != row_bytes) png_error(decoder.library, "not turned into RGB");
  for (int pass = 0; pass < passes; ++pass) {
    for (int y = 0; y < size.height; ++y)
      png_read_row(decoder.library, pixels + static_cast<std::size_t>(y) * row_bytes, nullptr);
  }
  png_read_end(decoder.library, nullptr);
}

/// Goes through the chunks (length, type, content, checksum) before the pixels. The library would do so as well, but it
/// gives an EXIF chunk the memory that it claims, up to 2 GiB.
int find_orientation(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t signature = 8, frame = 12;
  auto rest = bytes.subspan(std::min(signature, bytes.size()));
  while (rest.size() >= frame) {
    const std::size_t length = png_get_uint_32(rest.data());
    const std::string_view type(reinterpret_cast<const char*>(&rest[4]), 4);
    if (type == "IDAT" || length > rest.size() - frame) break;
    if (type == "eXIf") {
      const bool whole = crc32(0, &rest[4], static_cast<uInt>(4 + length)) == png_get_uint_32(&rest[8 + length]);
      return whole ? exif_orientation(rest.subspan(8, length)) : 1;
    }
    rest = rest.subspan(frame + length);
  }
  return 1;
}

// What an error jumps out of has nothing to destroy: the decoder belongs to the caller.

bool try_header(const Decoder& decoder) {
  if (setjmp(png_jmpbuf(decoder.library)) != 0) return false;  // NOLINT(cert-err52-cpp)
  start(decoder);
  return true;
}

bool try_image(const Decoder& decoder, ImageSize size, std::uint8_t* pixels) {
  if (setjmp(png_jmpbuf(decoder.library)) != 0) return false;  // NOLINT(cert-err52-cpp)
  start(decoder);
  decode_rows(decoder, size, pixels);
  return true;
}

}  // namespace

bool png_header(std::span<const std::uint8_t> bytes, ImageHeader& header, CodecError& error) {
  Decoder decoder(bytes, error);
  if (!try_header(decoder)) return false;
  header.stored = {static_cast<int>(png_get_image_height(decoder.library, decoder.info)),
                   static_cast<int>(png_get_image_width(decoder.library, decoder.info))};
  header.orientation = find_orientation(bytes);
  header.pixels_at = bytes.size() - decoder.rest.size();
  return true;
}

bool decode_png(std::span<const std::uint8_t> bytes, const ImageHeader& header, ImageSize,
                std::span<std::uint8_t> pixels, CodecError& error) {
  Decoder decoder(bytes, error);
  return try_image(decoder, header.stored, pixels.data());
}

}  // namespace regroup
