#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "regroup/data/image.h"
#include "regroup/data/resample.h"

namespace regroup {

/// The longer side of a photo is at most so many times its shorter one; the middle of a longer one is kept.
inline constexpr int max_photo_aspect = 2;

/// Memory that is kept from photo to photo. Each thread has its own.
struct PhotoScratch {
  std::vector<std::uint8_t> file;
  Image decoded, scaled;
  ResampleScratch resample;
};

/// The size that `decode_photo` makes of an image of this size, both upright.
ImageSize photo_size(ImageSize image, int short_side);

/// Decodes an image as `decode_image` does, upright, scales it, keeping its aspect ratio, until its shorter side is
/// `short_side`, and cuts off both ends of a longer side that is more than max_photo_aspect times as long. With
/// `short_side` 0 the image is left as it is. A JPEG file that becomes much smaller is decoded at a lower resolution,
/// which takes less time and blurs a little less.
///
/// `out` and `scratch` keep their memory from call to call, but for what a very large image took.
void decode_photo(std::span<const std::uint8_t> bytes, const std::string& name, int short_side, PhotoScratch& scratch,
                  Image& out);

/// The same from a file.
void read_photo(const std::filesystem::path& file, int short_side, PhotoScratch& scratch, Image& out);

}  // namespace regroup
