#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "regroup/data/image.h"
#include "regroup/data/resample.h"
#include "regroup/data/sample_source.h"

namespace regroup {

/// What is kept of a picture, whatever its size, to tell whether another one shows the same: 288 bytes.
struct Thumbnail {
  static constexpr std::size_t side = 16, colour_side = 4;

  std::array<std::uint8_t, side * side> luminance{};
  /// Blue and red, less luminance, as JPEG has them: 128 is grey. The two values of a place are side by side.
  std::array<std::uint8_t, colour_side * colour_side * 2> colour{};

  friend bool operator==(const Thumbnail&, const Thumbnail&) = default;
};

/// The whole picture, stretched to a square.
Thumbnail make_thumbnail(const ImageView& picture, ResampleScratch& scratch);

/// The thumbnails of all samples, each of which is read once. One that cannot be read gets a black one. Samples are
/// grey or RGB.
std::vector<Thumbnail> read_thumbnails(const SampleSource& source, int threads);

}  // namespace regroup
