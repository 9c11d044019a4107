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

}  // namespace regroup
