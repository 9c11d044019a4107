// Compiled once for any processor, once with AVX2 and once with AVX-512 (see core/simd.h): no inline function of a
// header may be used here, since the linker would keep one processor's form of it for everybody.
#include "regroup/nn/kernels/depthwise_kernels.h"

#include "regroup/nn/kernels/vectors.h"

namespace regroup::REGROUP_KERNELS {
namespace {

constexpr std::size_t tile = depthwise_tile;

template <std::size_t Value>
struct Number {
  static constexpr std::size_t value = Value;
};

/// Calls body(vector, channel) for all channels, as many at a time as the processor has lanes for.
template <class Body>
inline void for_each_vector(std::size_t channels, const Body& body) {
  std::size_t channel = 0;
#ifdef __AVX512BF16__
  for (; channel + 16 <= channels; channel += 16) body(Vector<16>(), channel);
#endif
  for (; channel < channels; channel += 8) body(Vector<8>(), channel);
}

/// Stores the results of a tile that are of the row. No index is computed: the sums stay in registers.
template <class V, class T>
inline void store_tile(const typename V::Floats (&sums)[tile], std::size_t first, const DepthwiseRow& row, T* result) {
#pragma GCC unroll 8
  for (std::size_t p = 0; p < tile; ++p)
    if (first + p < row.pixels) V::store(sums[p], result + (first + p) * row.step);
}

template <std::size_t Kernel, std::size_t Stride, class T>
void forward(const DepthwiseRow& row, const float* weights, T* result) {
  constexpr std::size_t sources = (tile - 1) * Stride + Kernel;
  for_each_vector(row.channels, [&]<class V>(V, std::size_t channel) {
    using Floats = typename V::Floats;
    for (std::size_t first = 0; first < row.pixels; first += tile) {
      Floats sums[tile]{};
      for (std::size_t ty = 0; ty < Kernel; ++ty) {
        if (row.rows[ty] == nullptr) continue;
        const float* from = row.rows[ty] + first * Stride * row.channels + channel;
        Floats factors[Kernel];
#pragma GCC unroll 5
        for (std::size_t tx = 0; tx < Kernel; ++tx)
          factors[tx] = V::load(weights + (ty * Kernel + tx) * row.channels + channel);
#pragma GCC unroll 32
        for (std::size_t source = 0; source < sources; ++source) {
          const Floats value = V::load(from + source * row.channels);
#pragma GCC unroll 8
          for (std::size_t p = 0; p < tile; ++p)
            if (p * Stride <= source && source - p * Stride < Kernel) sums[p] += value * factors[source - p * Stride];
        }
      }
      store_tile<V>(sums, first, row, result + channel);
    }
  });
}

template <std::size_t Kernel, std::size_t Odd, class T>
void backward(const DepthwiseRow& row, const float* weights, T* result) {
  static_assert(tile % 2 == 0 && Kernel <= 5);
  for_each_vector(row.channels, [&]<class V>(V, std::size_t channel) {
    using Floats = typename V::Floats;
    for (std::size_t first = 0; first < row.pixels; first += tile) {
      Floats sums[tile]{};
      for (std::size_t ty = 0; ty < Kernel; ++ty) {
        if (row.rows[ty] == nullptr) continue;
        // From two pixels before on, so that no number here is negative.
        const float* from = row.rows[ty] + first / 2 * row.channels + channel - 2 * row.channels;
        Floats factors[Kernel];
#pragma GCC unroll 5
        for (std::size_t tx = 0; tx < Kernel; ++tx)
          factors[tx] = V::load(weights + (ty * Kernel + tx) * row.channels + channel);
#pragma GCC unroll 8
        for (std::size_t source = 0; source < tile / 2 + 3; ++source) {
          const Floats value = V::load(from + source * row.channels);
#pragma GCC unroll 8
          for (std::size_t p = 0; p < tile; ++p)
            if (p + Odd + 4 >= 2 * source && p + Odd + 4 - 2 * source < Kernel)
              sums[p] += value * factors[p + Odd + 4 - 2 * source];
        }
      }
      store_tile<V>(sums, first, row, result + channel);
    }
  });
}

template <std::size_t Kernel, std::size_t Stride>
void weights(const DepthwiseRow& row, const float* dy, float* sums) {
  constexpr std::size_t at_once = 4, sources = (at_once - 1) * Stride + Kernel;
  for_each_vector(row.channels, [&]<class V>(V, std::size_t channel) {
    using Floats = typename V::Floats;
    for (std::size_t ty = 0; ty < Kernel; ++ty) {
      if (row.rows[ty] == nullptr) continue;
      // Two sums of each, which do not wait for each other.
      Floats total[2][Kernel]{};
      for (std::size_t first = 0; first < row.pixels; first += at_once) {
        const float* from = row.rows[ty] + first * Stride * row.channels + channel;
        Floats gradients[at_once];
#pragma GCC unroll 4
        for (std::size_t p = 0; p < at_once; ++p) gradients[p] = V::load(dy + (first + p) * row.channels + channel);
#pragma GCC unroll 32
        for (std::size_t source = 0; source < sources; ++source) {
          const Floats value = V::load(from + source * row.channels);
#pragma GCC unroll 4
          for (std::size_t p = 0; p < at_once; ++p)
            if (p * Stride <= source && source - p * Stride < Kernel)
              total[p % 2][source - p * Stride] += value * gradients[p];
        }
      }
#pragma GCC unroll 5
      for (std::size_t tx = 0; tx < Kernel; ++tx) {
        float* const to = sums + (ty * Kernel + tx) * row.channels + channel;
        V::store(V::load(to) + (total[0][tx] + total[1][tx]), to);
      }
    }
  });
}

template <class T>
void widen(const T* from, std::size_t pixels, std::size_t step, std::size_t channels, float* to) {
  for (std::size_t pixel = 0; pixel < pixels; ++pixel)
    for_each_vector(channels, [&]<class V>(V, std::size_t channel) {
      V::store(V::load(from + pixel * step + channel), to + pixel * channels + channel);
    });
}

/// Calls body with kernel and stride, or what else is one of two, as constants.
template <class Body>
inline void with_numbers(std::size_t kernel, bool second, const Body& body) {
  if (kernel == 3)
    second ? body(Number<3>(), Number<1>()) : body(Number<3>(), Number<0>());
  else
    second ? body(Number<5>(), Number<1>()) : body(Number<5>(), Number<0>());
}

template <class T>
DepthwiseKernels<T> kernels() {
  return {widen<T>,
          [](std::size_t kernel, std::size_t stride, const DepthwiseRow& row, const float* w, T* result) {
            with_numbers(kernel, stride == 2,
                         [&](auto k, auto second) { forward<k.value, 1 + second.value>(row, w, result); });
          },
          [](std::size_t kernel, bool odd, const DepthwiseRow& row, const float* w, T* result) {
            with_numbers(kernel, odd, [&](auto k, auto second) { backward<k.value, second.value>(row, w, result); });
          },
          [](std::size_t kernel, std::size_t stride, const DepthwiseRow& row, const float* dy, float* sums) {
            with_numbers(kernel, stride == 2,
                         [&](auto k, auto second) { weights<k.value, 1 + second.value>(row, dy, sums); });
          }};
}

}  // namespace

DepthwiseKernels<float> float_depthwise() { return kernels<float>(); }
DepthwiseKernels<std::uint16_t> bf16_depthwise() { return kernels<std::uint16_t>(); }

}  // namespace regroup::REGROUP_KERNELS
