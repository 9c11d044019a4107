#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace regroup {

/// A convolution without bias.
struct Convolution {
  at::Tensor weight;
  std::int64_t stride = 1, padding = 0;

  /// By the engine; in fp32 on a CPU by a matrix product for kernels of one pixel, and where that is faster by
  /// Winograd's algorithm (see winograd.h). bf16 is emulated so as well where the processor has none; where it has, the
  /// gradient of the weights is our own (see weight_gradient.h). Both have first derivatives only.
  at::Tensor operator()(const at::Tensor& x) const;
};

}  // namespace regroup
