#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "regroup/core/random.h"
#include "support/data_testing.h"

namespace regroup {

/// Grey 28x28 images of ten classes in MNIST's files: a bright square, whose place is the class, on dim noise.
inline void write_images(const TemporaryFolder& folder, const std::string& prefix, std::uint32_t count) {
  constexpr std::size_t side = 28;
  Bytes pixels(count * side * side), labels(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    Stream stream(1, Purpose::synthetic, prefix == "train" ? 0 : 1, i);
    const std::uint32_t label = i % 10;
    labels[i] = static_cast<std::uint8_t>(label);
    for (std::size_t p = 0; p < side * side; ++p) {
      const std::size_t row = p / side, column = p % side;
      const bool bright = row / 6 == 1 + label / 4 && column / 6 == label % 4;
      pixels[i * side * side + p] = static_cast<std::uint8_t>((bright ? 160 : 0) + stream.below(90));
    }
  }
  folder.write(prefix + "-images-idx3-ubyte", idx_bytes({count, side, side}, pixels));
  folder.write(prefix + "-labels-idx1-ubyte", idx_bytes({count}, labels));
}

inline void write_tiny_mnist(const TemporaryFolder& folder, std::uint32_t train = 180) {
  write_images(folder, "train", train);
  write_images(folder, "t10k", 40);
}

}  // namespace regroup
