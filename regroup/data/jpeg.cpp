// JPEG by libjpeg-turbo.
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs it

#include <jpeglib.h>

#include <string_view>

#include "regroup/data/exif.h"
#include "regroup/data/image_codecs.h"

namespace regroup {
namespace {

// A progressive image has about ten scans; a hostile one has thousands, each over all pixels.
constexpr int max_scans = 200;

constexpr int exif_marker = JPEG_APP0 + 1;
constexpr std::string_view exif_signature("Exif\0\0", 6);
constexpr unsigned whole_marker = 0xFFFF;

struct Decoder {
  jpeg_decompress_struct library{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf failed{};
  CodecError* error;

  explicit Decoder(CodecError& reason);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { jpeg_destroy_decompress(&library); }
};

Decoder& decoder_of(j_common_ptr library) { return *static_cast<Decoder*>(library->client_data); }

[[noreturn]] void give_up(Decoder& decoder) {
  std::longjmp(decoder.failed, 1);  // NOLINT(cert-err52-cpp): the library's own way out, over its C frames only
}

void on_error(j_common_ptr library) {
  Decoder& decoder = decoder_of(library);
  static_assert(JMSG_LENGTH_MAX <= sizeof(CodecError::text));
  library->err->format_message(library, decoder.error->text.data());
  give_up(decoder);
}

/// Warnings (level -1) are about data that is damaged or missing and was made up; the rest is of no interest.
void on_message(j_common_ptr library, int level) {
  if (level < 0) on_error(library);
}

void on_progress(j_common_ptr library) {
  Decoder& decoder = decoder_of(library);
  if (decoder.library.input_scan_number <= max_scans) return;
  std::snprintf(decoder.error->text.data(), decoder.error->text.size(), "more than %d scans", max_scans);
  give_up(decoder);
}

Decoder::Decoder(CodecError& reason) : error(&reason) {
  library.err = jpeg_std_error(&errors);
  errors.error_exit = on_error;
  errors.emit_message = on_message;
  progress.progress_monitor = on_progress;
  library.client_data = this;
}

/// Everything up to the header. To be called after setjmp.
void start(Decoder& decoder, std::span<const std::uint8_t> bytes) {
  jpeg_create_decompress(&decoder.library);
  decoder.library.progress = &decoder.progress;
  jpeg_save_markers(&decoder.library, exif_marker, whole_marker);
  jpeg_mem_src(&decoder.library, bytes.data(), bytes.size());
  jpeg_read_header(&decoder.library, TRUE);
}

/// Other data than EXIF comes under the same marker.
int orientation_of(const jpeg_decompress_struct& library) {
  for (auto* marker = library.marker_list; marker != nullptr; marker = marker->next) {
    const std::string_view text(reinterpret_cast<const char*>(marker->data), marker->data_length);
    if (text.starts_with(exif_signature))
      return exif_orientation(std::span(marker->data, marker->data_length).subspan(exif_signature.size()));
  }
  return 1;
}

/// The library cannot turn the four inks into RGB. Adobe's programs write them inverted.
void inks_to_rgb(const std::uint8_t* inks, unsigned width, bool inverted, std::uint8_t* rgb) {
  for (unsigned x = 0; x < width; ++x, inks += 4, rgb += 3) {
    const int black = inverted ? inks[3] : 255 - inks[3];
    for (int c = 0; c < 3; ++c) {
      const int ink = inverted ? inks[c] : 255 - inks[c];
      rgb[c] = static_cast<std::uint8_t>((ink * black + 127) / 255);
    }
  }
}

/// The size that the library gives at so many eighths.
ImageSize at_eighths(ImageSize stored, unsigned eighths) {
  const auto side = [&](int length) { return static_cast<int>((std::int64_t{length} * eighths + 7) / 8); };
  return {side(stored.height), side(stored.width)};
}

/// The library decodes fewer frequencies where the image becomes much smaller anyway. The picture differs from the
/// whole one made smaller by about as much as two filters differ. The shares in between have no vector code and are
/// slower than the next larger one. Of the library's other choices, the defaults are the fastest with AVX2, and the
/// best.
unsigned eighths_for(ImageSize stored, ImageSize wanted) {
  for (const unsigned eighths : {1U, 2U, 4U}) {
    const ImageSize size = at_eighths(stored, eighths);
    if (size.height >= wanted.height && size.width >= wanted.width) return eighths;
  }
  return 8;
}

void decode_rows(Decoder& decoder, unsigned eighths, std::uint8_t* pixels) {
  jpeg_decompress_struct& library = decoder.library;
  const bool inks = library.num_components == 4;
  library.out_color_space = inks ? JCS_CMYK : JCS_RGB;
  library.scale_num = eighths;
  library.scale_denom = 8;
  jpeg_start_decompress(&library);
  const JDIMENSION width = library.output_width;
  // Owned by the library, so that a jump does not lose it.
  JSAMPARRAY ink_row =
      inks ? library.mem->alloc_sarray(reinterpret_cast<j_common_ptr>(&library), JPOOL_IMAGE, width * 4, 1) : nullptr;
  while (library.output_scanline < library.output_height) {
    std::uint8_t* row = pixels + std::size_t{library.output_scanline} * width * 3;
    if (inks) {
      jpeg_read_scanlines(&library, ink_row, 1);
      inks_to_rgb(ink_row[0], width, library.saw_Adobe_marker, row);
    } else {
      jpeg_read_scanlines(&library, &row, 1);
    }
  }
  jpeg_finish_decompress(&library);
}

// What an error jumps out of has nothing to destroy: the decoder belongs to the caller.

bool try_header(Decoder& decoder, std::span<const std::uint8_t> bytes) {
  if (setjmp(decoder.failed) != 0) return false;  // NOLINT(cert-err52-cpp)
  start(decoder, bytes);
  return true;
}

bool try_image(Decoder& decoder, std::span<const std::uint8_t> bytes, unsigned eighths, std::uint8_t* pixels) {
  if (setjmp(decoder.failed) != 0) return false;  // NOLINT(cert-err52-cpp)
  start(decoder, bytes);
  decode_rows(decoder, eighths, pixels);
  return true;
}

}  // namespace

bool jpeg_header(std::span<const std::uint8_t> bytes, ImageHeader& header, CodecError& error) {
  Decoder decoder(error);
  if (!try_header(decoder, bytes)) return false;
  header.stored = {static_cast<int>(decoder.library.image_height), static_cast<int>(decoder.library.image_width)};
  header.orientation = orientation_of(decoder.library);
  header.pixels_at = bytes.size() - decoder.library.src->bytes_in_buffer;
  return true;
}

DecodedSize jpeg_decoded_size(ImageSize stored, ImageSize wanted) {
  const unsigned eighths = eighths_for(stored, wanted);
  return {at_eighths(stored, eighths), stored.height * eighths / 8.0, stored.width * eighths / 8.0};
}

bool decode_jpeg(std::span<const std::uint8_t> bytes, const ImageHeader& header, ImageSize wanted,
                 std::span<std::uint8_t> pixels, CodecError& error) {
  Decoder decoder(error);
  return try_image(decoder, bytes, eighths_for(header.stored, wanted), pixels.data());
}

}  // namespace regroup
