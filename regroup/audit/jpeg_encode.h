#pragma once

#include <string>

#include "regroup/data/image.h"

namespace regroup {

/// The bytes of a JPEG file with this image, at a quality of 1 to 100. From 90 on, colours keep the full resolution.
/// Throws std::invalid_argument where there is no such file: sides are 1 to 65,500 pixels long.
std::string encode_jpeg(const ImageView& image, int quality);

}  // namespace regroup
