#pragma once

#include <cstddef>
#include <cstdint>

/// The inner loops of weight_gradient.h, compiled with AVX-512 and its bf16 instructions: call them only where the
/// processor has both.
namespace regroup::weight_gradient {

/// A word is the bf16 values of two images: that of the first in its lower half. `second` may be null, an image of
/// zeros. `values` is a multiple of 16.
void pair_up(std::size_t values, const std::uint16_t* first, const std::uint16_t* second, std::uint32_t* words);

/// How many words it is to the next pair of images, to the next row and to the next column.
struct Steps {
  std::size_t pair, row, column;
};

/// The pixels that one tap of the kernel brings together.
struct Meeting {
  std::size_t pairs, rows, columns;
  Steps x, dy;
};

/// So many input channels, by so many output channels, are computed at once.
struct Tile {
  std::size_t in, out;
};
inline constexpr Tile narrow{16, 16}, wide{32, 8};

/// dw[output channel][input channel] (+)= the sum of dy * x over the pixels that meet; `stride` floats from one output
/// channel to the next.
struct Sums {
  float* dw;
  std::size_t stride;
  bool add;
};
void sum_narrow(const Meeting& meeting, const std::uint32_t* x, const std::uint32_t* dy, Sums sums);
void sum_wide(const Meeting& meeting, const std::uint32_t* x, const std::uint32_t* dy, Sums sums);

}  // namespace regroup::weight_gradient
