#include "regroup/audit/pictures.h"

#include <algorithm>
#include <utility>

#include "regroup/audit/jpeg_encode.h"
#include "regroup/core/error.h"
#include "regroup/core/parallel.h"
#include "regroup/data/image_file.h"
#include "regroup/data/photo.h"
#include "regroup/data/resample.h"

namespace regroup {
namespace {

/// As large as a tile is at least shown.
constexpr int largest_cell = 96;

/// The cell of a JPEG must not share blocks of pixels with the next one.
constexpr int block = 16;

constexpr int tile_quality = 78;

Image shrunk(Image image, int longest_side) {
  const int longest = std::max(image.size.height, image.size.width);
  if (longest <= longest_side) return image;
  const auto scaled = [&](int side) { return std::max(1, (side * longest_side + longest / 2) / longest); };
  Image small;
  small.reshape({scaled(image.size.height), scaled(image.size.width)});
  ResampleScratch scratch;
  resample(image, {0, 0, static_cast<double>(image.size.height), static_cast<double>(image.size.width)}, small.size,
           small.pixels, scratch);
  return small;
}

/// A large photo is decoded at a lower resolution where that does not cut off its ends (photo.h).
Image read_file(const std::filesystem::path& file, int longest_side) {
  const ImageSize size = read_image_size(file);
  const int longest = std::max(size.height, size.width), shortest = std::min(size.height, size.width);
  const bool scales = longest > longest_side && longest <= max_photo_aspect * shortest;
  const int short_side = scales ? std::max(1, shortest * longest_side / longest) : 0;
  thread_local PhotoScratch scratch;
  Image image;
  read_photo(file, short_side, scratch, image);
  return shrunk(std::move(image), longest_side);
}

Image image_of(const SampleView& sample, int channels) {
  Image image;
  image.reshape({sample.height, sample.width});
  if (channels == 3) {
    std::ranges::copy(sample, image.pixels.begin());
  } else {
    for (std::size_t i = 0; i < sample.size(); ++i) std::fill_n(&image.pixels[i * 3], 3, sample[i]);
  }
  return image;
}

/// Into the upper left corner of a cell. Beside it its edge goes on, so that the JPEG has no steps there.
void put(const Image& picture, std::size_t cell, const Tiles& tiles, Image& sheet) {
  const std::size_t left = cell % static_cast<std::size_t>(tiles.columns) * static_cast<std::size_t>(tiles.size);
  const std::size_t top = cell / static_cast<std::size_t>(tiles.columns) * static_cast<std::size_t>(tiles.size);
  const auto width = static_cast<std::size_t>(sheet.size.width);
  for (int y = 0; y < tiles.size; ++y) {
    for (int x = 0; x < tiles.size; ++x) {
      const int from_y = std::min(y, picture.size.height - 1), from_x = std::min(x, picture.size.width - 1);
      const std::uint8_t* const from =
          &picture.pixels[static_cast<std::size_t>(from_y * picture.size.width + from_x) * 3];
      std::copy_n(
          from, 3,
          &sheet.pixels[((top + static_cast<std::size_t>(y)) * width + left + static_cast<std::size_t>(x)) * 3]);
    }
  }
}

}  // namespace

PictureReader::PictureReader(const Audit& audit, std::vector<std::shared_ptr<const SampleSource>> sources)
    : audit_(audit), sources_(std::move(sources)) {
  sources_.resize(audit.parts.size());
}

std::optional<Image> PictureReader::read(std::uint32_t sample, int longest_side) const {
  const AuditedSample& audited = audit_.samples[sample];
  try {
    if (!audited.path.empty()) return read_file(audit_.root / audited.path, longest_side);
    const SampleSource* const source = sources_[audited.part].get();
    if (source == nullptr || source->shape().is_vector || audited.index >= source->size()) return std::nullopt;
    thread_local SampleScratch scratch;
    return shrunk(image_of(source->read(audited.index, scratch), source->shape().channels), longest_side);
  } catch (const UserError&) {
    return std::nullopt;
  }
}

Tiles make_tiles(std::span<const std::uint32_t> samples, const PictureReader& pictures, std::size_t most_bytes,
                 int threads) {
  Tiles tiles;
  tiles.pictures.resize(samples.size());
  const auto per_sheet = static_cast<std::size_t>(tiles.columns) * static_cast<std::size_t>(tiles.rows);
  std::size_t bytes = 0;
  for (std::size_t begin = 0; begin < samples.size() && bytes < most_bytes; begin += per_sheet) {
    const std::size_t count = std::min(per_sheet, samples.size() - begin);
    std::vector<std::optional<Image>> read(count);
    parallel_for(count, 1, threads, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) read[i] = pictures.read(samples[begin + i], largest_cell);
    });
    // Sets of small images have small cells.
    if (tiles.size == 0) {
      int largest = 1;
      for (const auto& image : read)
        if (image) largest = std::max({largest, image->size.height, image->size.width});
      tiles.size = (largest + block - 1) / block * block;
    }
    Image sheet;
    sheet.reshape({tiles.rows * tiles.size, tiles.columns * tiles.size});
    std::ranges::fill(sheet.pixels, std::uint8_t{128});
    for (std::size_t i = 0; i < count; ++i) {
      if (!read[i]) continue;
      const Image picture = shrunk(std::move(*read[i]), tiles.size);
      put(picture, i, tiles, sheet);
      tiles.pictures[begin + i] = picture.size;
    }
    tiles.sheets.push_back(encode_jpeg(sheet, tile_quality));
    bytes += tiles.sheets.back().size();
  }
  return tiles;
}

}  // namespace regroup
