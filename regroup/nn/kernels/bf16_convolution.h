#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "regroup/core/workers.h"

namespace regroup {

/// A convolution of images with their channels last: x[images][height][width][in],
/// y[images][out_height][out_width][out], w[out][kernel][kernel][in].
struct ConvolutionShape {
  std::size_t images, height, width, in, out, kernel, stride, padding;

  std::size_t out_height() const { return (height + 2 * padding - kernel) / stride + 1; }
  std::size_t out_width() const { return (width + 2 * padding - kernel) / stride + 1; }
};

/// Whether this processor can run what follows (AVX-512 with bf16).
bool bf16_convolution_available();

/// Whether the shape is one that can be computed: whole vectors of channels.
bool bf16_convolution_possible(const ConvolutionShape& shape);

/// Whether both hold, and the processor has no AMX, for which oneDNN has code of its own.
bool bf16_convolution_pays(const ConvolutionShape& shape);

/// Memory that is worth keeping from call to call.
struct Bf16Scratch {
  std::vector<std::uint32_t> words;
  std::vector<float> sums;
};

using Bf16Span = std::span<const std::uint16_t>;

/// The convolution: sums in fp32, rounded to bf16. An image's result does not depend on the others of its batch.
void bf16_forward(const ConvolutionShape& shape, Bf16Span x, Bf16Span w, std::span<std::uint16_t> y,
                  Bf16Scratch& scratch, const Workers& workers);

/// The gradient of the images; the gradient that they have from elsewhere is added where `addend` is not empty.
void bf16_backward_data(const ConvolutionShape& shape, Bf16Span dy, Bf16Span w, Bf16Span addend,
                        std::span<std::uint16_t> dx, Bf16Scratch& scratch, const Workers& workers);

/// The gradient of the weights, in fp32.
void bf16_backward_weights(const ConvolutionShape& shape, Bf16Span x, Bf16Span dy, std::span<float> dw,
                           Bf16Scratch& scratch, const Workers& workers);

}  // namespace regroup
