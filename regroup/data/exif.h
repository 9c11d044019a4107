#pragma once

#include <cstdint>
#include <span>

#include "regroup/data/image.h"

namespace regroup {

/// What makes a stored image upright, by the numbers of EXIF: 1 nothing, 2 mirror left and right, 3 turn by 180
/// degrees, 4 mirror top and bottom, 5 exchange rows and columns, 6 turn right, 7 as 3 and then 5, 8 turn left.
///
/// `block` is an EXIF block from its byte order (II or MM) on. Where it says nothing, or is damaged, the answer is 1:
/// an image without EXIF is no worse.
int exif_orientation(std::span<const std::uint8_t> block);

/// The size of an image once it is upright.
ImageSize upright(ImageSize stored, int orientation);

/// Turns and mirrors a stored image so that it is upright.
void make_upright(const Image& stored, int orientation, Image& image);

}  // namespace regroup
