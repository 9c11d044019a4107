#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "regroup/nn/workers.h"

namespace regroup {

/// A convolution of images with their channels last: x[images][height][width][in],
/// y[images][out_height][out_width][out], w[out][kernel][kernel][in].
struct ConvolutionShape {
  std::size_t images, height, width, in, out, kernel, stride, padding;

  std::size_t out_height() const { return (height + 2 * padding - kernel) / stride + 1; }
  std::size_t out_width() const { return (width + 2 * padding - kernel) / stride + 1; }
};

/// Whether this processor can run what follows (AVX-512 with bf16).
bool weight_gradient_available();

/// Whether the gradient can be had for this shape: whole vectors of channels.
bool weight_gradient_possible(const ConvolutionShape& shape);

/// Whether it is to be had here for this shape, and the processor has no AMX, for which oneDNN has code of its own.
bool weight_gradient_pays(const ConvolutionShape& shape);

/// Memory that is worth keeping from call to call.
struct WeightGradientScratch {
  std::vector<std::uint32_t> words;
  std::vector<float> sums;
};

/// The gradient of the weights in fp32 from images x and gradients dy in bf16. The processor sums up the products of
/// two pairs of bf16 values at once; the two are those of the same pixel in two images, so that any tap and any stride
/// finds its pairs in the same memory.
void compute_weight_gradient(const ConvolutionShape& shape, std::span<const std::uint16_t> x,
                             std::span<const std::uint16_t> dy, std::span<float> dw, WeightGradientScratch& scratch,
                             const Workers& workers);

}  // namespace regroup
