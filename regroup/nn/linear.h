#pragma once

#include <ATen/core/Tensor.h>

namespace regroup {

class Symbol;

/// Whether Linear::rounded rounds on a CPU.
bool rounded_linear_available();

/// A linear layer.
struct Linear {
  at::Tensor weight, bias;

  /// In fp32, whatever the precision of x. On a CPU by our own code where the processor has AVX2 (see
  /// kernels/linear.h), with the engine's second derivatives.
  at::Tensor operator()(const at::Tensor& x) const;

  /// Where bf16 is on and the processor has it, products of numbers that are rounded to bf16, with sums in fp32; the
  /// gradient of x is in fp32. Elsewhere the same as above.
  at::Tensor rounded(const at::Tensor& x) const;

  Symbol operator()(const Symbol& x) const;
  Symbol rounded(const Symbol& x) const;
};

}  // namespace regroup
