#pragma once

#include <cstdint>
#include <span>

#include "regroup/data/image_file.h"

namespace regroup {

/// Scales an image, keeping its aspect ratio, until it just covers `size`, cuts off evenly what stands over, and writes
/// the RGB result to `out`. An image of that size is copied as it is.
///
/// Each new pixel is the average of the old ones around its place, with weights that fall linearly to zero at the
/// distance of one pixel, old or new, whichever is larger: bilinear interpolation that does not alias when it shrinks.
void resize_to_cover(const Image& image, ImageSize size, std::span<std::uint8_t> out);

}  // namespace regroup
