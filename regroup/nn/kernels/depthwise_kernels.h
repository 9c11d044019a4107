#pragma once

#include <cstddef>
#include <cstdint>

namespace regroup {

/// The largest kernel that there is code for; those are 3 and 5 pixels wide.
inline constexpr std::size_t depthwise_max_kernel = 5;

/// So many results of a row are computed at once: rows of floats are as long as whole tiles need, zeros where there are
/// no pixels.
inline constexpr std::size_t depthwise_tile = 8;

/// A row of results of a depthwise convolution, and what it is computed from, for some of the channels, a multiple
/// of 8.
struct DepthwiseRow {
  const float* rows[depthwise_max_kernel];  ///< for each row of taps the sources as floats [pixel][channel], or null
  std::size_t pixels;                       ///< of the result
  std::size_t channels;
  std::size_t step;  ///< values of the result from pixel to pixel
};

/// A convolution of each channel by itself, a row at a time. T is float or bf16 (as its bits); sums are in fp32.
/// Weights are [tap][channel]. The kernels are named by their width.
template <class T>
struct DepthwiseKernels {
  /// Pixels as floats, side by side; `step` values from pixel to pixel.
  void (*widen)(const T* from, std::size_t pixels, std::size_t step, std::size_t channels, float* to);

  /// result[p] = the sum over taps of rows[ty][p * stride + tx] * weights[ty][tx].
  void (*forward)(std::size_t kernel, std::size_t stride, const DepthwiseRow& row, const float* weights, T* result);

  /// The gradient of the images where the stride is 2: result[p] = the sum over the taps with p + odd - tx even of
  /// rows[ty][(p + odd - tx) / 2] * weights[ty][tx]. Rows are read from 2 pixels before their beginning on.
  void (*backward)(std::size_t kernel, bool odd, const DepthwiseRow& row, const float* weights, T* result);

  /// sums[ty][tx] += the sum over p of dy[p] * rows[ty][p * stride + tx], both as floats.
  void (*weights)(std::size_t kernel, std::size_t stride, const DepthwiseRow& row, const float* dy, float* sums);
};

namespace baseline {
DepthwiseKernels<float> float_depthwise();
DepthwiseKernels<std::uint16_t> bf16_depthwise();
}  // namespace baseline
namespace avx2 {
DepthwiseKernels<float> float_depthwise();
DepthwiseKernels<std::uint16_t> bf16_depthwise();
}  // namespace avx2
/// For processors with AVX-512 and its bf16 instructions.
namespace avx512 {
DepthwiseKernels<float> float_depthwise();
DepthwiseKernels<std::uint16_t> bf16_depthwise();
}  // namespace avx512

}  // namespace regroup
