#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "regroup/data/image.h"

namespace regroup {

/// A part of an image, in pixels from its upper left corner. Its edges may lie between pixels.
struct Rectangle {
  double top = 0;
  double left = 0;
  double height = 0;
  double width = 0;
};

/// The old pixels that each new one of a row or a column is made of: `taps` from `first` on, with weights that sum to
/// 2^14. The number of taps is even and the same for all; those that are too many have the weight 0.
struct ResampleTaps {
  std::size_t taps = 0;
  std::vector<std::int32_t> first;
  std::vector<std::int16_t> weights;
};

/// Memory that is kept from call to call. Each thread has its own.
struct ResampleScratch {
  ResampleTaps rows, columns;
  std::vector<const std::uint8_t*> row_pointers;
  std::vector<std::int16_t> sums;
};

/// Scales a rectangle of an image to `size` and writes it to `out`, RGB. The rectangle lies in the image.
///
/// Each new pixel is the average of the old ones around its place, with weights that fall linearly to zero at the
/// distance of one pixel, old or new, whichever is larger: bilinear interpolation that does not alias when it shrinks.
/// Old pixels outside of the rectangle count as well. The arithmetic is in integers, so that all machines agree; a
/// value is off by at most a fifth before it is rounded, and a plain colour stays as it is.
void resample(const ImageView& image, const Rectangle& from, ImageSize size, std::span<std::uint8_t> out,
              ResampleScratch& scratch);

}  // namespace regroup
