#include "made_photos.h"

#include <cstdio>  // jpeglib.h needs it

#include <fmt/format.h>
#include <jpeglib.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "regroup/core/random.h"
#include "regroup/data/resample.h"

namespace regroup::bench {
namespace {

constexpr int quality = 90;

/// Random colours on a grid of this step, blurred in between.
Image clouds(ImageSize size, int step, Stream& random, ResampleScratch& scratch) {
  const ImageSize grid{size.height / step + 2, size.width / step + 2};
  Image image, blurred;
  image.reshape(grid);
  for (std::size_t i = 0; i < image.pixels.size(); i += 3) {
    // Mostly brightness, some colour.
    const auto grey = 32 + random.below(192);
    for (std::size_t c = 0; c < 3; ++c) image.pixels[i + c] = static_cast<std::uint8_t>(grey - 32 + random.below(64));
  }
  blurred.reshape(size);
  resample(image, {0, 0, static_cast<double>(grid.height), static_cast<double>(grid.width)}, size, blurred.pixels,
           scratch);
  return blurred;
}

/// Coarser clouds weigh more, as in photos.
Image make_photo(ImageSize size, Stream& random) {
  ResampleScratch scratch;
  std::vector<float> sums(size.pixels() * 3);
  float weights = 0;
  for (int step = std::max(size.height, size.width); step >= 4; step /= 2) {
    const Image layer = clouds(size, step, random, scratch);
    const float weight = static_cast<float>(step) + 16;
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += weight * (static_cast<float>(layer.pixels[i]) - 128);
    weights += weight;
  }
  Image photo;
  photo.reshape(size);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const float grain = static_cast<float>(random() & 15U) - 7.5F;
    photo.pixels[i] = static_cast<std::uint8_t>(std::clamp(128 + 2 * sums[i] / weights + grain, 0.0F, 255.0F));
  }
  return photo;
}

void write_jpeg(const std::filesystem::path& file, const Image& photo) {
  std::FILE* out = std::fopen(file.c_str(), "wb");
  if (out == nullptr) throw std::runtime_error("cannot write " + file.string());
  jpeg_compress_struct library{};
  jpeg_error_mgr errors{};
  library.err = jpeg_std_error(&errors);
  jpeg_create_compress(&library);
  jpeg_stdio_dest(&library, out);
  library.image_width = static_cast<JDIMENSION>(photo.size.width);
  library.image_height = static_cast<JDIMENSION>(photo.size.height);
  library.input_components = 3;
  library.in_color_space = JCS_RGB;
  jpeg_set_defaults(&library);
  jpeg_set_quality(&library, quality, TRUE);
  jpeg_start_compress(&library, TRUE);
  while (library.next_scanline < library.image_height) {
    const std::size_t at = std::size_t{library.next_scanline} * library.image_width * 3;
    auto* row = const_cast<std::uint8_t*>(photo.pixels.data()) + at;
    jpeg_write_scanlines(&library, &row, 1);
  }
  jpeg_finish_compress(&library);
  jpeg_destroy_compress(&library);
  std::fclose(out);
}

}  // namespace

void make_photos(const std::filesystem::path& folder, int count, ImageSize size) {
  std::filesystem::create_directories(folder);
  for (int i = 0; i < count; ++i) {
    Stream random(1, Purpose::synthetic, 0, static_cast<std::uint32_t>(i));
    const ImageSize turned = i % 2 == 0 ? size : ImageSize{size.width, size.height};
    write_jpeg(folder / fmt::format("{:04}.jpg", i), make_photo(turned, random));
  }
}

MadeFolder::MadeFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "regroup-bench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

MadeFolder::~MadeFolder() {
  std::error_code left_behind;
  std::filesystem::remove_all(path_, left_behind);
}

}  // namespace regroup::bench
