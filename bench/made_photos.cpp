#include "made_photos.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "regroup/audit/jpeg_encode.h"
#include "regroup/core/file.h"
#include "regroup/core/random.h"
#include "regroup/data/resample.h"

namespace regroup::bench {
namespace {

/// As cameras do, with colours at half the resolution.
constexpr int quality = 89;

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

}  // namespace

void make_photos(const std::filesystem::path& folder, int count, ImageSize size) {
  std::filesystem::create_directories(folder);
  for (int i = 0; i < count; ++i) {
    Stream random(1, Purpose::synthetic, 0, static_cast<std::uint32_t>(i));
    const ImageSize turned = i % 2 == 0 ? size : ImageSize{size.width, size.height};
    write_file(folder / fmt::format("{:04}.jpg", i), encode_jpeg(make_photo(turned, random), quality));
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
