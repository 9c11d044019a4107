// Compiled once for any processor and once with AVX2 (see core/simd.h): no inline function of a header may be used
// here, since the linker would keep the AVX2 form of it for everybody.
#include "regroup/nn/batch_norm_kernels.h"

#include <cstddef>
#include <cstdint>

namespace regroup::REGROUP_KERNELS {
namespace {

// Eight channels at a time; a compiler without such registers splits them.
constexpr std::size_t lanes = 8;
using Floats = float __attribute__((vector_size(32)));
using Words = std::uint32_t __attribute__((vector_size(32)));
using Halves = std::uint16_t __attribute__((vector_size(16)));

inline Floats load(const float* from) {
  Floats values;
  __builtin_memcpy(&values, from, sizeof values);
  return values;
}

inline void store(Floats values, float* to) { __builtin_memcpy(to, &values, sizeof values); }

inline Floats load(const std::uint16_t* from) {
  Halves halves;
  __builtin_memcpy(&halves, from, sizeof halves);
  return reinterpret_cast<Floats>(__builtin_convertvector(halves, Words) << 16);
}

inline void store(Floats values, std::uint16_t* to) {
  const Words bits = reinterpret_cast<Words>(values);
  const Words rounded = (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;  // to nearest, ties to even
  const Words not_a_number = bits >> 16 | 0x40U;
  const Halves halves = __builtin_convertvector((bits & 0x7fffffffU) > 0x7f800000U ? not_a_number : rounded, Halves);
  __builtin_memcpy(to, &halves, sizeof halves);
}

// Not a number stays what it is, so that a broken run is seen.
inline Floats positive_part(Floats values) { return values < 0 ? Floats{} : values; }

/// What passes back through ReLU: dy where the output was positive.
template <bool Relu, class T>
inline Floats passed(const T* dy, Floats x, const T* y, const float* scale, const float* shift, std::size_t at,
                     std::size_t channel) {
  const Floats g = load(dy + at);
  if constexpr (!Relu) return g;
  const Floats output = y != nullptr ? load(y + at) : x * load(scale + channel) + load(shift + channel);
  return output > 0 ? g : Floats{};
}

/// The mean of a few rows, then the deviations from it while the rows are still in the cache, then Chan's formula to
/// join them with what came before: exact enough in single precision, one trip to memory.
template <class T>
void moments_of(Rows rows, const T* x, float* mean, float* squares) {
  const auto [begin, end, channels] = rows;
  const std::size_t few = channels >= 1024 ? 4 : 4096 / channels;
  for (std::size_t c = 0; c < channels; ++c) mean[c] = squares[c] = 0;
  for (std::size_t from = begin; from < end; from += few) {
    const std::size_t to = end - from < few ? end : from + few;
    const auto count = static_cast<float>(to - from);
    const auto before = static_cast<float>(from - begin);
    for (std::size_t c = 0; c < channels; c += lanes) {
      Floats sum{};
      for (std::size_t row = from; row < to; ++row) sum += load(x + row * channels + c);
      const Floats here = sum / count;
      Floats square{};
      for (std::size_t row = from; row < to; ++row) {
        const Floats deviation = load(x + row * channels + c) - here;
        square += deviation * deviation;
      }
      const Floats shift = here - load(mean + c);
      store(load(squares + c) + square + shift * shift * (before * (count / (before + count))), squares + c);
      store(load(mean + c) + shift * (count / (before + count)), mean + c);
    }
  }
}

template <bool Relu, class T>
void normalise_rows(Rows rows, const T* x, const T* addend, const float* scale, const float* shift, T* y) {
  const auto [begin, end, channels] = rows;
  for (std::size_t row = begin; row < end; ++row) {
    for (std::size_t c = 0; c < channels; c += lanes) {
      const std::size_t at = row * channels + c;
      Floats value = load(x + at) * load(scale + c) + load(shift + c);
      if (addend != nullptr) value += load(addend + at);
      store(Relu ? positive_part(value) : value, y + at);
    }
  }
}

template <bool Relu, class T>
void backward_sums_of(Rows rows, const T* dy, const T* x, const T* y, const float* scale, const float* shift,
                      const float* mean, float* sum, float* dot) {
  const auto [begin, end, channels] = rows;
  for (std::size_t c = 0; c < channels; ++c) sum[c] = dot[c] = 0;
  // Few rows at a time, so that their cache lines serve all channels, and the sums stay in registers.
  const std::size_t few = channels >= 1024 ? 4 : 4096 / channels;
  for (std::size_t from = begin; from < end; from += few) {
    const std::size_t to = end - from < few ? end : from + few;
    for (std::size_t c = 0; c < channels; c += lanes) {
      Floats sums{}, dots{};
      const Floats centre = load(mean + c);
      for (std::size_t row = from; row < to; ++row) {
        const std::size_t at = row * channels + c;
        const Floats value = load(x + at);
        const Floats g = passed<Relu>(dy, value, y, scale, shift, at, c);
        sums += g;
        dots += g * (value - centre);
      }
      store(load(sum + c) + sums, sum + c);
      store(load(dot + c) + dots, dot + c);
    }
  }
}

template <bool Relu, class T>
void backward_rows(Rows rows, const T* dy, const T* x, const T* y, const float* scale, const float* shift,
                   const float* slope, const float* offset, T* dx, T* daddend) {
  const auto [begin, end, channels] = rows;
  for (std::size_t row = begin; row < end; ++row) {
    for (std::size_t c = 0; c < channels; c += lanes) {
      const std::size_t at = row * channels + c;
      const Floats value = load(x + at);
      const Floats g = passed<Relu>(dy, value, y, scale, shift, at, c);
      store(g * load(scale + c) + value * load(slope + c) + load(offset + c), dx + at);
      if (daddend != nullptr) store(g, daddend + at);
    }
  }
}

template <class T>
BatchNormKernels<T> kernels() {
  return {
      moments_of<T>,
      [](Rows rows, const T* x, const T* addend, const float* scale, const float* shift, bool relu, T* y) {
        (relu ? normalise_rows<true, T> : normalise_rows<false, T>)(rows, x, addend, scale, shift, y);
      },
      [](Rows rows, const T* dy, const T* x, const T* y, const float* scale, const float* shift, const float* mean,
         bool relu, float* sum, float* dot) {
        (relu ? backward_sums_of<true, T> : backward_sums_of<false, T>)(rows, dy, x, y, scale, shift, mean, sum, dot);
      },
      [](Rows rows, const T* dy, const T* x, const T* y, const float* scale, const float* shift, bool relu,
         const float* slope, const float* offset, T* dx, T* daddend) {
        (relu ? backward_rows<true, T> : backward_rows<false, T>)(rows, dy, x, y, scale, shift, slope, offset, dx,
                                                                  daddend);
      },
  };
}

}  // namespace

BatchNormKernels<float> float_batch_norm() { return kernels<float>(); }
BatchNormKernels<std::uint16_t> bf16_batch_norm() { return kernels<std::uint16_t>(); }

}  // namespace regroup::REGROUP_KERNELS
