#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace regroup {

class Symbol;

/// A result, and what it was computed from.
template <class X>
struct BesideOf {
  X y, x;
};

/// A convolution without bias.
struct Convolution {
  at::Tensor weight;
  std::int64_t stride = 1, padding = 0;

  /// By the engine; on a CPU in fp32 by a matrix product for kernels of one pixel, and where that is faster by
  /// Winograd's algorithm (see winograd.h); in bf16 by our own code (see bf16_convolution.h), and emulated by the ways
  /// of fp32 where the processor has no bf16. All but the engine's have first derivatives only.
  at::Tensor operator()(const at::Tensor& x) const;

  /// The same where x goes on beside it, as in a residual block. Its two gradients are then summed up while the
  /// convolution's is computed, not in a pass of their own.
  BesideOf<at::Tensor> beside(const at::Tensor& x) const;

  /// Described instead of computed (see graph.h).
  Symbol operator()(const Symbol& x) const;
  BesideOf<Symbol> beside(const Symbol& x) const;
};

}  // namespace regroup
