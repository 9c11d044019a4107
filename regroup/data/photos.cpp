#include "regroup/data/photos.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace regroup {
namespace {

std::uint64_t continued(std::uint64_t digest, std::uint64_t before) {
  return hash_of(std::span(reinterpret_cast<const std::uint8_t*>(&digest), sizeof digest), before);
}

/// Leaves the square in the middle of an image.
void cut_square(Image& image, int side) {
  const SampleShape shape{3, side, side};
  const auto row = static_cast<std::size_t>(side) * 3;
  const auto top = static_cast<std::size_t>((image.size.height - side) / 2);
  const auto left = static_cast<std::size_t>((image.size.width - side) / 2);
  for (std::size_t y = 0; y < static_cast<std::size_t>(side); ++y)
    std::memmove(&image.pixels[y * row],
                 &image.pixels[((top + y) * static_cast<std::size_t>(image.size.width) + left) * 3], row);
  image.size = {side, side};
  image.pixels.resize(shape.values());
}

SampleView view_of(const Image& image) { return {image.pixels, image.size.height, image.size.width}; }

}  // namespace

PhotoReader::PhotoReader(std::filesystem::path root, PhotoForm form, std::shared_ptr<ImageCache> cache)
    : root_(std::move(root)), form_(form), cache_(std::move(cache)) {
  if (form.side < 1 || form.short_side < form.side)
    throw std::invalid_argument("photos are scaled to less than networks get of them");
}

void PhotoReader::read(const std::string& path, PhotoScratch& scratch, Image& image) const {
  const std::filesystem::path file = root_ / path;
  std::string key;
  if (cache_) {
    key = ImageCache::key(file, fmt::format("{} {}", form_.short_side, form_.whole ? "whole" : "square"));
    // A cache comes from outside as well: an image of another size is none.
    const auto fits = [&] {
      const auto [shorter, longer] = std::minmax(image.size.height, image.size.width);
      return shorter == form_.short_side && longer <= (form_.whole ? max_photo_aspect : 1) * shorter;
    };
    if (cache_->read(key, image) && fits()) return;
  }
  read_photo(file, form_.short_side, scratch, image);
  if (!form_.whole) cut_square(image, form_.short_side);
  if (cache_) cache_->write(key, image);
}

std::uint64_t digest_of_files(const std::filesystem::path& root, const std::vector<std::string>& paths) {
  std::uint64_t digest = hash_start;
  for (const std::string& path : paths) {
    std::error_code missing;
    const auto bytes = std::filesystem::file_size(root / path, missing);
    // The byte 0 ends a path: it is in none.
    digest = hash_of(std::span(reinterpret_cast<const std::uint8_t*>(path.c_str()), path.size() + 1), digest);
    digest = continued(missing ? 0 : bytes, digest);
  }
  return digest;
}

PhotosInMemory::PhotosInMemory(SampleShape shape, std::vector<Image> images, std::uint64_t digest)
    : shape_(shape), images_(std::move(images)), digest_(digest) {}

SampleView PhotosInMemory::read(std::uint32_t index, SampleScratch& /*scratch*/) const {
  return view_of(images_.at(index));
}

std::uint64_t PhotosInMemory::digest(std::uint64_t before) const { return continued(digest_, before); }

PhotosOnDisk::PhotosOnDisk(PhotoReader reader, std::vector<std::string> paths, std::uint64_t digest, Warn skip)
    : reader_(std::move(reader)), paths_(std::move(paths)), digest_(digest), skip_(std::move(skip)) {}

SampleView PhotosOnDisk::read(std::uint32_t index, SampleScratch& scratch) const {
  try {
    reader_.read(paths_.at(index), scratch.photo, scratch.image);
  } catch (const UserError& error) {
    if (!skip_) throw;
    {
      const std::lock_guard lock(mutex_);
      if (told_.insert(index).second) skip_(error.what());
    }
    throw UnreadableSample(error.what());
  }
  return view_of(scratch.image);
}

std::vector<std::uint32_t> PhotosOnDisk::unreadable() const {
  const std::lock_guard lock(mutex_);
  return {told_.begin(), told_.end()};
}

std::uint64_t PhotosOnDisk::digest(std::uint64_t before) const { return continued(digest_, before); }

}  // namespace regroup
