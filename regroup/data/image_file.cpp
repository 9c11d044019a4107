#include "regroup/data/image_file.h"

#include <algorithm>
#include <vector>

#include "regroup/core/error.h"
#include "regroup/data/exif.h"
#include "regroup/data/image_bytes.h"
#include "regroup/data/image_format.h"
#include "regroup/data/photo.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

constexpr std::size_t header_bytes = 1U << 16;
constexpr std::size_t end_bytes = 1U << 12;

struct FileHeader {
  const ImageFormat* format;
  ImageHeader header;
  std::uintmax_t file_bytes;
};

/// `bytes` is what was read for it: the start of the file, or all of it.
FileHeader read_file_header(const std::filesystem::path& file, std::vector<std::uint8_t>& bytes) {
  const std::string name = file.string();
  const std::uintmax_t size = read_bytes(file, 0, header_bytes, bytes);
  const ImageFormat& format = format_of(bytes, name);
  if (bytes.size() < size) {
    try {
      return {&format, read_header(bytes, name, format), size};
    } catch (const UserError&) {
      // Cameras put previews before the header; then the size is further behind.
      read_bytes(file, 0, max_image_file_bytes, bytes);
    }
  }
  return {&format, read_header(bytes, name, format), size};
}

ImageSize upright_size(const ImageHeader& header) { return upright(header.stored, header.orientation); }

bool has(std::span<const std::uint8_t> bytes, std::string_view end) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.find(end) != std::string_view::npos;
}

/// Whether the end of the pixels is there. A preview has an end too, but in the header. Some cameras put more behind
/// the end, even a film. `bytes` is what was read of the file.
bool has_end(const std::filesystem::path& file, const FileHeader& found, std::vector<std::uint8_t>& bytes) {
  const auto& [format, header, size] = found;
  if (format->end.empty()) return header.file_bytes <= size;
  if (bytes.size() == size) return has(std::span(bytes).subspan(header.pixels_at), format->end);
  for (const std::uintmax_t begin : {size - end_bytes, std::uintmax_t{header.pixels_at}}) {
    read_bytes(file, std::max<std::uintmax_t>(begin, header.pixels_at), max_image_file_bytes, bytes);
    if (has(bytes, format->end)) return true;
  }
  return false;
}

}  // namespace

bool is_image_name(const std::filesystem::path& name) {
  const std::string ending = lowercase(name.extension().string());
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png" || ending == ".webp";
}

ImageSize image_size(std::span<const std::uint8_t> bytes, const std::string& name) {
  return upright_size(read_header(bytes, name, format_of(bytes, name)));
}

Image decode_image(std::span<const std::uint8_t> bytes, const std::string& name) {
  PhotoScratch scratch;
  Image image;
  decode_photo(bytes, name, 0, scratch, image);
  return image;
}

ImageSize read_image_size(const std::filesystem::path& file) {
  std::vector<std::uint8_t> bytes;
  return upright_size(read_file_header(file, bytes).header);
}

Image read_image(const std::filesystem::path& file) {
  PhotoScratch scratch;
  Image image;
  read_photo(file, 0, scratch, image);
  return image;
}

ImageSize check_image_file(const std::filesystem::path& file) {
  std::vector<std::uint8_t> bytes;
  const FileHeader found = read_file_header(file, bytes);
  if (!has_end(file, found, bytes)) fail_damaged(file.string(), *found.format, "it ends too early");
  return upright_size(found.header);
}

}  // namespace regroup
