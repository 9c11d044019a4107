#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "regroup/core/workers.h"

namespace regroup {

/// A convolution of each channel by itself, of images with their channels last: x[images][height][width][channels],
/// y[images][out_height][out_width][channels], w[channels][kernel][kernel]. The images are padded with zeros so that
/// the result is as large as the image divided by the stride, rounded up: by one more at the end than at the beginning
/// where the two differ, as TensorFlow does it.
struct DepthwiseShape {
  std::size_t images, height, width, channels, kernel, stride;

  std::size_t out_height() const { return outputs(height); }
  std::size_t out_width() const { return outputs(width); }
  std::size_t padding_top() const { return padding(height); }
  std::size_t padding_left() const { return padding(width); }

  std::size_t outputs(std::size_t size) const { return (size + stride - 1) / stride; }

  /// Before the first pixel.
  std::size_t padding(std::size_t size) const {
    const std::size_t covered = (outputs(size) - 1) * stride + kernel;
    return covered > size ? (covered - size) / 2 : 0;
  }
};

/// Whether there is code for it: a kernel of 3 or 5 pixels, a stride of 1 or 2, a multiple of 8 channels.
bool depthwise_possible(const DepthwiseShape& shape);

/// Memory that is worth keeping from call to call.
struct DepthwiseScratch {
  std::vector<float> floats;
};

/// T is float, or std::uint16_t for the bits of bf16. Sums are in fp32. Neither the number of workers nor the processor
/// changes a bit; in bf16 processors differ in numbers under 1.2e-38.
template <class T>
void depthwise_forward(const DepthwiseShape& shape, std::span<const T> x, std::span<const float> w, std::span<T> y,
                       DepthwiseScratch& scratch, const Workers& workers);

/// The gradient of the images.
template <class T>
void depthwise_backward_data(const DepthwiseShape& shape, std::span<const T> dy, std::span<const float> w,
                             std::span<T> dx, DepthwiseScratch& scratch, const Workers& workers);

/// The gradient of the weights.
template <class T>
void depthwise_backward_weights(const DepthwiseShape& shape, std::span<const T> x, std::span<const T> dy,
                                std::span<float> dw, DepthwiseScratch& scratch, const Workers& workers);

}  // namespace regroup
