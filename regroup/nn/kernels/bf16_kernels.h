#pragma once

#include <cstddef>
#include <cstdint>

/// The inner loops of bf16_convolution.h, compiled with AVX-512 and its bf16 instructions: call them only where the
/// processor has both. The processor multiplies pairs of bf16 values, a word each, and adds both products to a sum.
namespace regroup::bf16 {

/// Pixels with their channels, a multiple of 16, that go into planes of so many channels each: 8 or a multiple of 16.
struct Planes {
  std::size_t pixels, channels, width;
  std::size_t step;  ///< words from plane to plane
};

/// Words of the values of two images: those of the first in the lower halves. `second` may be null, an image of zeros.
void pair_up(const Planes& planes, const std::uint16_t* first, const std::uint16_t* second, std::uint32_t* words);

// Forward and backward to the images.

/// So many pixels and channels of the result are computed at once.
struct ResultTile {
  std::size_t pixels, channels;
};
inline constexpr ResultTile narrow_tile{16, 16}, wide_tile{8, 32};

/// Which pixel of a tile has no source, since that is beyond the border.
enum class Missing { none, first, last };

/// What one tap of the kernel adds to a tile.
struct Tap {
  std::size_t source;   ///< where the first pixel that is there begins
  std::size_t weights;  ///< where its words begin
  Missing missing;
};

/// A tile, its taps, and how many values it is from pixel to pixel.
struct Meeting {
  const Tap* taps;
  std::size_t tap_count, pairs, source_step, result_step;
};

/// result[pixel][channel] = the sum of source * weights over the taps and the pairs of source channels, and of the
/// addend unless it is null; `pairs` is a multiple of 8, weights are [pair][channel] for each tap.
using Convolve = void(const Meeting& meeting, const std::uint16_t* source, const std::uint32_t* weights,
                      const std::uint16_t* addend, std::uint16_t* result);
Convolve convolve_narrow, convolve_wide;
Convolve convolve_one_narrow, convolve_one_wide;  ///< one pixel instead of a tile's

// Backward to the weights.

/// How many words it is to the next pair of images, to the next row and to the next column.
struct Steps {
  std::size_t pair, row, column;
};

/// The pixels that one tap of the kernel brings together; words are those of two images.
struct ImagePairs {
  std::size_t pairs, rows, columns;
  Steps x, dy;
};

/// So many input channels, by so many output channels, are computed at once.
struct WeightTile {
  std::size_t in, out;
};
inline constexpr WeightTile narrow_weights{16, 16}, wide_weights{32, 8};

/// dw[output channel][input channel] (+)= the sum of dy * x over the pixels that meet; `stride` floats from one output
/// channel to the next.
struct Sums {
  float* dw;
  std::size_t stride;
  bool add;
};
void sum_narrow(const ImagePairs& together, const std::uint32_t* x, const std::uint32_t* dy, Sums sums);
void sum_wide(const ImagePairs& together, const std::uint32_t* x, const std::uint32_t* dy, Sums sums);

}  // namespace regroup::bf16
