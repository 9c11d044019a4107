// JPEG by libjpeg-turbo.
#include "regroup/audit/jpeg_encode.h"

#include <csetjmp>
#include <cstdio>  // jpeglib.h needs it

#include <jpeglib.h>

#include <array>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

namespace regroup {
namespace {

constexpr int longest_side = 65500;
constexpr int full_colour_quality = 90;

/// The library reports errors by a jump, over which no destructor runs; what it fills belongs to this.
struct Encoder {
  jpeg_compress_struct library{};
  jpeg_error_mgr errors{};
  jpeg_destination_mgr destination{};
  std::jmp_buf failed{};
  std::array<JOCTET, 1U << 14> buffer{};
  std::array<char, JMSG_LENGTH_MAX> reason{};
  std::string file;

  Encoder();
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() { jpeg_destroy_compress(&library); }

  /// False where there is no memory: an exception must not pass through the library.
  bool keep(std::size_t bytes) noexcept {
    try {
      file.append(reinterpret_cast<const char*>(buffer.data()), bytes);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  void start_buffer() {
    destination.next_output_byte = buffer.data();
    destination.free_in_buffer = buffer.size();
  }
};

template <class Library>
Encoder& encoder_of(Library library) {
  return *static_cast<Encoder*>(library->client_data);
}

[[noreturn]] void give_up(Encoder& encoder) {
  std::longjmp(encoder.failed, 1);  // NOLINT(cert-err52-cpp): the library's own way out, over its C frames only
}

void on_error(j_common_ptr library) {
  Encoder& encoder = encoder_of(library);
  library->err->format_message(library, encoder.reason.data());
  give_up(encoder);
}

void on_message(j_common_ptr, int) {}

void on_start(j_compress_ptr library) { encoder_of(library).start_buffer(); }

boolean on_full(j_compress_ptr library) {
  Encoder& encoder = encoder_of(library);
  // The library asks for the whole buffer to be taken, whatever free_in_buffer says.
  if (!encoder.keep(encoder.buffer.size())) give_up(encoder);
  encoder.start_buffer();
  return TRUE;
}

void on_end(j_compress_ptr library) {
  Encoder& encoder = encoder_of(library);
  if (!encoder.keep(encoder.buffer.size() - encoder.destination.free_in_buffer)) give_up(encoder);
}

Encoder::Encoder() {
  library.err = jpeg_std_error(&errors);
  errors.error_exit = on_error;
  errors.emit_message = on_message;
  library.client_data = this;
  destination.init_destination = on_start;
  destination.empty_output_buffer = on_full;
  destination.term_destination = on_end;
}

// What an error jumps out of has nothing to destroy: the encoder belongs to the caller.
bool try_encode(Encoder& encoder, const ImageView& image, int quality) {
  jpeg_compress_struct& library = encoder.library;
  if (setjmp(encoder.failed) != 0) return false;  // NOLINT(cert-err52-cpp)
  jpeg_create_compress(&library);
  library.dest = &encoder.destination;
  library.image_width = static_cast<JDIMENSION>(image.size.width);
  library.image_height = static_cast<JDIMENSION>(image.size.height);
  library.input_components = 3;
  library.in_color_space = JCS_RGB;
  jpeg_set_defaults(&library);
  jpeg_set_quality(&library, quality, TRUE);
  library.optimize_coding = TRUE;
  if (quality >= full_colour_quality) library.comp_info[0].h_samp_factor = library.comp_info[0].v_samp_factor = 1;
  jpeg_start_compress(&library, TRUE);
  while (library.next_scanline < library.image_height) {
    // The library takes the row as one that may be written to, and only reads it.
    auto* row = const_cast<JSAMPLE*>(image.pixels + std::size_t{library.next_scanline} * image.stride);
    jpeg_write_scanlines(&library, &row, 1);
  }
  jpeg_finish_compress(&library);
  return true;
}

}  // namespace

std::string encode_jpeg(const ImageView& image, int quality) {
  const auto fits = [](int side) { return side >= 1 && side <= longest_side; };
  if (!fits(image.size.width) || !fits(image.size.height) || image.pixels == nullptr)
    throw std::invalid_argument("encode_jpeg: an image of this size has no JPEG file");
  Encoder encoder;
  if (try_encode(encoder, image, quality)) return std::move(encoder.file);
  if (encoder.reason.front() == '\0') throw std::bad_alloc();
  throw std::runtime_error(encoder.reason.data());
}

}  // namespace regroup
