#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace regroup {

/// Images with so many zeros around that a convolution gives one pixel for each `stride` pixels, rounded up: as
/// TensorFlow pads, one more at the end where the number is odd. A convolution that pads alike on both sides gives as
/// many, of a grid that is shifted by a pixel where the images have an even size.
at::Tensor padded_as_tensorflow(const at::Tensor& images, std::int64_t kernel, std::int64_t stride);

/// A convolution of each channel by itself, without bias, of images that are padded as TensorFlow does it.
struct DepthwiseConvolution {
  at::Tensor weight;  ///< [channels][1][kernel][kernel]
  std::int64_t stride = 1;

  /// On a CPU by our own code (see kernels/depthwise.h) where that is faster, which has first derivatives only;
  /// elsewhere by the engine.
  at::Tensor operator()(const at::Tensor& x) const;
};

}  // namespace regroup
