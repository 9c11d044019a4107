#include "regroup/data/photo.h"

#include <algorithm>
#include <limits>

#include "regroup/data/exif.h"
#include "regroup/data/image_bytes.h"
#include "regroup/data/image_format.h"

namespace regroup {
namespace {

/// One image in a million needs more; its memory is not kept for all the others.
constexpr std::size_t max_kept_bytes = std::size_t{64} << 20;

void give_back(std::vector<std::uint8_t>& bytes) {
  if (bytes.capacity() > max_kept_bytes) std::vector<std::uint8_t>().swap(bytes);
}

/// The image with its shorter side scaled to `short_side`, before its ends are cut off.
ImageSize scaled_size(ImageSize image, int short_side) {
  const int shorter = std::min(image.height, image.width);
  if (short_side == 0 || shorter == 0) return image;
  const auto scaled = [&](int side) {
    const auto rounded = (2 * std::int64_t{side} * short_side + shorter) / (2 * std::int64_t{shorter});
    return static_cast<int>(std::min<std::int64_t>(rounded, std::numeric_limits<int>::max()));
  };
  return {scaled(image.height), scaled(image.width)};
}

ImageSize cut_size(ImageSize scaled, int short_side) {
  if (short_side == 0) return scaled;
  return {std::min(scaled.height, max_photo_aspect * short_side),
          std::min(scaled.width, max_photo_aspect * short_side)};
}

/// The part of the decoded image that is left when the ends are cut off.
Rectangle kept_part(const DecodedSize& decoded, ImageSize scaled, ImageSize cut) {
  Rectangle part;
  part.height = decoded.height * cut.height / scaled.height;
  part.width = decoded.width * cut.width / scaled.width;
  part.top = (decoded.height - part.height) / 2;
  part.left = (decoded.width - part.width) / 2;
  return part;
}

}  // namespace

ImageSize photo_size(ImageSize image, int short_side) { return cut_size(scaled_size(image, short_side), short_side); }

void decode_photo(std::span<const std::uint8_t> bytes, const std::string& name, int short_side, PhotoScratch& scratch,
                  Image& out) {
  const ImageFormat& format = format_of(bytes, name);
  const ImageHeader header = read_header(bytes, name, format);
  const ImageSize scaled = scaled_size(header.stored, short_side);
  const ImageSize size = cut_size(scaled, short_side);
  const bool turn = header.orientation != 1;
  const DecodedSize decoded_size = format.decoded_size(header.stored, scaled);
  const bool resize = decoded_size.height != size.height || decoded_size.width != size.width;

  // It is scaled as it is stored, and then turned: fewer pixels are moved.
  Image& decoded = resize || turn ? scratch.decoded : out;
  decode_stored(bytes, name, format, header, scaled, decoded);
  if (resize) {
    Image& resized = turn ? scratch.scaled : out;
    resized.reshape(size);
    resample(decoded, kept_part(decoded_size, scaled, size), size, resized.pixels, scratch.resample);
  }
  if (turn) make_upright(resize ? scratch.scaled : scratch.decoded, header.orientation, out);
  give_back(scratch.decoded.pixels);
}

void read_photo(const std::filesystem::path& file, int short_side, PhotoScratch& scratch, Image& out) {
  read_bytes(file, 0, max_image_file_bytes, scratch.file);
  decode_photo(scratch.file, file.string(), short_side, scratch, out);
  give_back(scratch.file);
}

}  // namespace regroup
