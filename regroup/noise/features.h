#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace regroup {

/// The features of samples, one row at a time, so that a whole dataset never exists as floats.
struct Features {
  std::size_t size = 0;  ///< numbers per sample
  /// Writes the row of sample `index`. Called from several threads at once.
  std::function<void(std::size_t index, std::span<float> row)> read;
};

/// Images as features: their bytes from 0 to 255 as they are, which is what the published generator of
/// instance-dependent noise is fed. `pixels` holds `count` images; it is not copied and must outlive the result.
Features pixel_features(std::span<const std::uint8_t> pixels, std::size_t count);

}  // namespace regroup
