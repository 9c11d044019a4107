#pragma once

#include <cstddef>
#include <span>

#include "regroup/core/workers.h"

namespace regroup {

/// A convolution 3x3, stride 1, padding 1, of images with their channels last: x[images][height][width][in],
/// y[images][height][width][out], w[out][3][3][in]. Channels are multiples of 8, height and width at least 2.
struct WinogradShape {
  std::size_t images, height, width, in, out;
};

/// Whether this processor can run what follows (AVX2 and FMA).
bool winograd_available();

/// Whether they can be had for this shape, and all three are faster than oneDNN's direct ones, as measured.
bool winograd_pays(const WinogradShape& shape);

enum class WinogradProduct { forward, backward_data, backward_weights };

/// How many floats of scratch memory a product needs.
std::size_t winograd_scratch(WinogradProduct product, const WinogradShape& shape, std::size_t workers);

/// Winograd's minimal filtering F(2x2, 3x3) (Lavin and Gray 2016): 16 multiplications for 2x2 results where the direct
/// form has 36. y = A^T [(G w G^T) . (B^T x B)] A, summed over the input channels by matrix products.
void winograd_forward(const WinogradShape& shape, std::span<const float> x, std::span<const float> w,
                      std::span<float> y, std::span<float> scratch, const Workers& workers);

/// The gradient of the inputs: a convolution of dy with the weights turned by 180 degrees.
void winograd_backward_data(const WinogradShape& shape, std::span<const float> dy, std::span<const float> w,
                            std::span<float> dx, std::span<float> scratch, const Workers& workers);

/// The gradient of the weights: dw = G^T [sum over tiles of (A dy A^T) . (B^T x B)] G.
void winograd_backward_weights(const WinogradShape& shape, std::span<const float> x, std::span<const float> dy,
                               std::span<float> dw, std::span<float> scratch, const Workers& workers);

}  // namespace regroup
