#include "regroup/data/image_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <system_error>
#include <utility>

#include "regroup/core/error.h"
#include "regroup/data/exif.h"
#include "regroup/data/image_codecs.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

constexpr std::uintmax_t max_file_bytes = std::uintmax_t{1} << 30;
constexpr std::size_t header_bytes = 1U << 16;
// Neither format packs better, so a header that claims more than this lies, and no memory is given for it.
constexpr std::size_t max_pixels_per_byte = 10'000;

struct Codec {
  std::string_view name;
  std::string_view signature;
  bool (*header)(std::span<const std::uint8_t>, ImageHeader&, CodecError&);
  bool (*decode)(std::span<const std::uint8_t>, ImageSize, std::span<std::uint8_t>, CodecError&);
};

constexpr std::array codecs{
    Codec{"JPEG", "\xFF\xD8\xFF", jpeg_header, decode_jpeg},
    Codec{"PNG", "\x89PNG\r\n\x1A\n", png_header, decode_png},
};

const Codec& codec_of(std::span<const std::uint8_t> bytes, const std::string& name) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const Codec& codec : codecs) {
    if (text.starts_with(codec.signature)) return codec;
  }
  throw UserError(fmt::format("{}: neither a JPEG nor a PNG file; convert or remove it", name));
}

[[noreturn]] void fail(const std::string& name, const Codec& codec, const CodecError& error) {
  throw UserError(fmt::format("{}: damaged {} file ({}); fetch or remove it", name, codec.name, error.text.data()));
}

ImageHeader read_header(std::span<const std::uint8_t> bytes, const std::string& name, const Codec& codec) {
  ImageHeader header;
  CodecError error;
  if (!codec.header(bytes, header, error)) fail(name, codec, error);
  const ImageSize size = header.stored;
  if (size.pixels() > max_image_pixels) {
    throw UserError(fmt::format("{}: {}x{} pixels; at most {} million are read, so make it smaller or remove it", name,
                                size.width, size.height, max_image_pixels / 1'000'000));
  }
  return header;
}

/// The first bytes of a file, at most `limit`, and whether these are all.
struct FileStart {
  std::vector<std::uint8_t> bytes;
  bool whole = false;
};

FileStart read_start(const std::filesystem::path& file, std::uintmax_t limit) {
  // A pipe or a device is not opened: it may never end, or never begin.
  std::error_code no_size;
  const auto bytes = std::filesystem::file_size(file, no_size);
  std::ifstream in;
  if (!no_size && std::filesystem::is_regular_file(file, no_size)) in.open(file, std::ios::binary);
  if (!in.is_open()) {
    throw UserError(
        fmt::format("{}: cannot be opened; does it exist, is it a file, and may it be read?", file.string()));
  }
  if (bytes > max_file_bytes)
    throw UserError(fmt::format("{}: {} bytes; an image file has at most {}", file.string(), bytes, max_file_bytes));
  FileStart start;
  start.bytes.resize(static_cast<std::size_t>(std::min(bytes, limit)));
  in.read(reinterpret_cast<char*>(start.bytes.data()), static_cast<std::streamsize>(start.bytes.size()));
  if (in.bad()) throw UserError(fmt::format("{}: cannot be read", file.string()));
  start.bytes.resize(static_cast<std::size_t>(in.gcount()));
  start.whole = start.bytes.size() == bytes;
  return start;
}

}  // namespace

bool is_image_name(const std::filesystem::path& name) {
  const std::string ending = lowercase(name.extension().string());
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

ImageSize image_size(std::span<const std::uint8_t> bytes, const std::string& name) {
  const ImageHeader header = read_header(bytes, name, codec_of(bytes, name));
  return upright(header.stored, header.orientation);
}

Image decode_image(std::span<const std::uint8_t> bytes, const std::string& name) {
  const Codec& codec = codec_of(bytes, name);
  const ImageHeader header = read_header(bytes, name, codec);
  Image image;
  image.size = header.stored;
  if (image.size.pixels() / max_pixels_per_byte > bytes.size()) {
    throw UserError(fmt::format("{}: damaged {} file ({} bytes cannot hold {}x{} pixels); fetch or remove it", name,
                                codec.name, bytes.size(), image.size.width, image.size.height));
  }
  image.pixels.resize(image.size.pixels() * 3);
  CodecError error;
  if (!codec.decode(bytes, image.size, image.pixels, error)) fail(name, codec, error);
  return upright(std::move(image), header.orientation);
}

ImageSize read_image_size(const std::filesystem::path& file) {
  const FileStart start = read_start(file, header_bytes);
  if (start.whole) return image_size(start.bytes, file.string());
  try {
    return image_size(start.bytes, file.string());
  } catch (const UserError&) {
    // Cameras put previews before the header; then the size is further behind.
    return image_size(read_start(file, max_file_bytes).bytes, file.string());
  }
}

Image read_image(const std::filesystem::path& file) {
  return decode_image(read_start(file, max_file_bytes).bytes, file.string());
}

}  // namespace regroup
