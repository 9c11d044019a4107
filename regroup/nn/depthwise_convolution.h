#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "regroup/nn/convolution.h"

namespace regroup {

/// So many zeros before and after `size` pixels that a convolution gives one pixel for each `stride` pixels, rounded
/// up: as TensorFlow pads, one more at the end where the number is odd. A convolution that pads alike on both sides
/// gives as many, of a grid that is shifted by a pixel where the images have an even size.
struct TensorflowPadding {
  std::int64_t before, after;
};
TensorflowPadding tensorflow_padding(std::int64_t size, std::int64_t kernel, std::int64_t stride);

/// The convolution of images that are padded so, whatever its own padding.
at::Tensor convolved_as_tensorflow(const Convolution& convolution, const at::Tensor& x);
Symbol convolved_as_tensorflow(const Convolution& convolution, const Symbol& x);

/// A convolution of each channel by itself, without bias, of images that are padded as TensorFlow does it.
struct DepthwiseConvolution {
  at::Tensor weight;  ///< [channels][1][kernel][kernel]
  std::int64_t stride = 1;

  /// On a CPU by our own code (see kernels/depthwise.h) where that is faster, which has first derivatives only;
  /// elsewhere by the engine.
  at::Tensor operator()(const at::Tensor& x) const;
  Symbol operator()(const Symbol& x) const;
};

}  // namespace regroup
