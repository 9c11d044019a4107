#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace regroup {

/// The features of samples, one row at a time, so that a whole dataset never exists as floats.
struct Features {
  std::size_t size = 0;  ///< numbers a sample
  /// Writes the row of sample `index`. Called from several threads at once.
  std::function<void(std::size_t index, std::span<float> row)> read;
};

/// Images as features: each channel shifted and scaled to mean 0 and deviation 1 over all given images, which is what
/// published generators of instance-dependent noise are fed. `pixels` holds `count` images, channels interleaved; it is
/// not copied and must outlive the result.
Features pixel_features(std::span<const std::uint8_t> pixels, std::size_t count, std::size_t channels);

}  // namespace regroup
