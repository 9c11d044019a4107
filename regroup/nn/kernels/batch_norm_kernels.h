#pragma once

#include <cstddef>
#include <cstdint>

#include "regroup/nn/activation.h"

namespace regroup {

/// The rows begin .. end of a matrix with so many columns: of an image tensor with its channels last.
struct Rows {
  std::size_t begin, end, channels;
};

/// Batch normalisation, with what comes after it in a network: an addend and an activation. T is float or bf16 (as its
/// bits). The channels are a multiple of 8.
template <class T>
struct BatchNormKernels {
  /// Mean and sum of squared deviations of each channel.
  void (*moments)(Rows rows, const T* x, float* mean, float* squares);

  /// y = activation(x * scale + shift (+ addend, unless null)).
  void (*normalise)(Rows rows, const T* x, const T* addend, const float* scale, const float* shift,
                    Activation activation, T* y);

  /// With g = dy where the activation has changed nothing: the sums of g and of g * (x - mean). `y` is the output, or
  /// null where it can be told from x by scale and shift.
  void (*backward_sums)(Rows rows, const T* dy, const T* x, const T* y, const float* scale, const float* shift,
                        const float* mean, Activation activation, float* sum, float* dot);

  /// dx = g * scale + x * slope + offset, and g itself to `daddend` unless that is null.
  void (*backward)(Rows rows, const T* dy, const T* x, const T* y, const float* scale, const float* shift,
                   Activation activation, const float* slope, const float* offset, T* dx, T* daddend);
};

namespace baseline {
BatchNormKernels<float> float_batch_norm();
BatchNormKernels<std::uint16_t> bf16_batch_norm();
}  // namespace baseline
namespace avx2 {
BatchNormKernels<float> float_batch_norm();
BatchNormKernels<std::uint16_t> bf16_batch_norm();
}  // namespace avx2
/// For processors with AVX-512 and its bf16 instructions.
namespace avx512 {
BatchNormKernels<float> float_batch_norm();
BatchNormKernels<std::uint16_t> bf16_batch_norm();
}  // namespace avx512

}  // namespace regroup
