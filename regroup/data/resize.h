#pragma once

#include <cstdint>
#include <span>

#include "regroup/data/resample.h"

namespace regroup {

/// Scales an image, keeping its aspect ratio, until it just covers `size`, cuts off evenly what stands over, and writes
/// the RGB result to `out`, as `resample` does. An image of that size is copied as it is.
void resize_to_cover(const Image& image, ImageSize size, std::span<std::uint8_t> out, ResampleScratch& scratch);
void resize_to_cover(const Image& image, ImageSize size, std::span<std::uint8_t> out);

}  // namespace regroup
