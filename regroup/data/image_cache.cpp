#include "regroup/data/image_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "regroup/core/error.h"
#include "regroup/core/hash.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

/// Before the pixels: what the file is, height and width.
struct Header {
  std::array<char, 8> magic{'r', 'e', 'g', 'r', 'o', 'u', 'p', '1'};
  std::int32_t height = 0, width = 0;
};
static_assert(sizeof(Header) == 16);

constexpr std::int32_t max_side = 1 << 15;

std::uint64_t hash_text(const std::string& text, std::uint64_t before) {
  return hash_of(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), before);
}

}  // namespace

ImageCache::ImageCache(fs::path folder, double max_bytes) : folder_(std::move(folder)), max_bytes_(max_bytes) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw UserError(fmt::format("{}: no cache can be made here: {}", folder_.string(), error.message()));
  double bytes = 0;
  for (fs::recursive_directory_iterator entry(folder_, error); !error && entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    std::error_code gone;
    if (entry->is_regular_file(gone)) bytes += static_cast<double>(entry->file_size(gone));
  }
  bytes_ = bytes;
}

std::string ImageCache::key(const fs::path& file, const std::string& form) {
  std::error_code unknown;
  const auto bytes = fs::file_size(file, unknown);
  const auto time = fs::last_write_time(file, unknown).time_since_epoch().count();
  const std::string text = fmt::format("{}\n{}\n{}\n{}", fs::absolute(file, unknown).string(), bytes, time, form);
  // Two hashes that begin differently: 64 bits alone meet by chance among millions of images of a long life.
  return fmt::format("{:016x}{:016x}", hash_text(text, hash_start), hash_text(text, ~hash_start));
}

fs::path ImageCache::place_of(const std::string& key) const { return folder_ / key.substr(0, 2) / key.substr(2); }

bool ImageCache::read(const std::string& key, Image& image) const {
  std::ifstream in(place_of(key), std::ios::binary);
  Header header;
  if (!in.read(reinterpret_cast<char*>(&header), sizeof header) || header.magic != Header().magic) return false;
  if (header.height < 1 || header.width < 1 || header.height > max_side || header.width > max_side) return false;
  image.size = {header.height, header.width};
  image.pixels.resize(image.size.pixels() * 3);
  in.read(reinterpret_cast<char*>(image.pixels.data()), static_cast<std::streamsize>(image.pixels.size()));
  return in.gcount() == static_cast<std::streamsize>(image.pixels.size()) && in.peek() == EOF;
}

void ImageCache::write(const std::string& key, const Image& image) {
  const Header header{.height = image.size.height, .width = image.size.width};
  const auto bytes = static_cast<double>(sizeof header + image.pixels.size());
  if (bytes_.fetch_add(bytes) + bytes > max_bytes_) {
    bytes_.fetch_sub(bytes);
    return;
  }
  const fs::path place = place_of(key);
  static std::atomic<std::uint64_t> number = 0;
  const fs::path aside = place.string() + fmt::format(".{}.{}", getpid(), number++);
  std::error_code error;
  fs::create_directories(place.parent_path(), error);
  std::ofstream out(aside, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&header), sizeof header);
  out.write(reinterpret_cast<const char*>(image.pixels.data()), static_cast<std::streamsize>(image.pixels.size()));
  out.close();
  if (out) fs::rename(aside, place, error);
  if (!out || error) {
    fs::remove(aside, error);
    bytes_.fetch_sub(bytes);
  }
}

}  // namespace regroup
