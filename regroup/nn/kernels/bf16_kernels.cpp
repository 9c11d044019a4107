// Compiled with AVX-512 (see core/simd.h): no inline function of a header may be used here, since the linker would keep
// the AVX-512 form of it for everybody.
#include "regroup/nn/kernels/bf16_kernels.h"

#if defined(__AVX512BF16__)
#include <immintrin.h>
#endif

namespace regroup::bf16 {

#if defined(__AVX512BF16__)
namespace {

constexpr std::size_t lanes = 16;
using Floats = float __attribute__((vector_size(64)));
using Words = std::uint32_t __attribute__((vector_size(64)));
using Halves = std::uint16_t __attribute__((vector_size(32)));

template <class Vector, class Value>
inline Vector load(const Value* from) {
  Vector values;
  __builtin_memcpy(&values, from, sizeof values);
  return values;
}

template <class Vector, class Value>
inline void store(Vector values, Value* to) {
  __builtin_memcpy(to, &values, sizeof values);
}

inline Words widened(const std::uint16_t* from) { return __builtin_convertvector(load<Halves>(from), Words); }

/// In each lane: sum + a.lower * b.lower + a.upper * b.upper.
inline Floats multiply_add(Floats sum, Words a, Words b) {
  return reinterpret_cast<Floats>(
      _mm512_dpbf16_ps(reinterpret_cast<__m512>(sum), reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b)));
}

template <WeightTile Size>
void sum(const ImagePairs& together, const std::uint32_t* x, const std::uint32_t* dy, const Sums& result) {
  constexpr std::size_t vectors = Size.in / lanes;
  Floats sums[Size.out][vectors];
#pragma GCC unroll 16
  for (std::size_t k = 0; k < Size.out; ++k)
#pragma GCC unroll 2
    for (std::size_t v = 0; v < vectors; ++v)
      sums[k][v] = result.add ? load<Floats>(result.dw + k * result.stride + v * lanes) : Floats{};
  for (std::size_t pair = 0; pair < together.pairs; ++pair)
    for (std::size_t row = 0; row < together.rows; ++row) {
      const std::uint32_t* from = x + pair * together.x.pair + row * together.x.row;
      const std::uint32_t* gradients = dy + pair * together.dy.pair + row * together.dy.row;
      for (std::size_t column = 0; column < together.columns; ++column) {
        Words values[vectors];
        for (std::size_t v = 0; v < vectors; ++v) values[v] = load<Words>(from + v * lanes);
#pragma GCC unroll 16
        for (std::size_t k = 0; k < Size.out; ++k) {
          const Words gradient = Words{} + gradients[k];
          for (std::size_t v = 0; v < vectors; ++v) sums[k][v] = multiply_add(sums[k][v], values[v], gradient);
        }
        from += together.x.column;
        gradients += together.dy.column;
      }
    }
#pragma GCC unroll 16
  for (std::size_t k = 0; k < Size.out; ++k)
#pragma GCC unroll 2
    for (std::size_t v = 0; v < vectors; ++v) store(sums[k][v], result.dw + k * result.stride + v * lanes);
}

/// What one tap adds to the pixels First .. Last - 1 of a tile.
template <std::size_t First, std::size_t Last, std::size_t Pixels, std::size_t Vectors>
[[gnu::always_inline]] inline void add_tap(Floats (&sums)[Pixels][Vectors], std::size_t pairs, std::size_t step,
                                           const std::uint16_t* source, const std::uint32_t* weights) {
  constexpr std::size_t at_once = 8, pixels = Last - First;
  // Four pixels from each pointer: so all addresses are one instruction's operand.
  const std::uint16_t* from[(pixels + 3) / 4];
  for (std::size_t i = 0; i < (pixels + 3) / 4; ++i) from[i] = source + 4 * i * step;
  for (std::size_t pair = 0; pair < pairs; pair += at_once) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < at_once; ++i, weights += Vectors * lanes) {
      Words factors[Vectors];
      for (std::size_t v = 0; v < Vectors; ++v) factors[v] = load<Words>(weights + v * lanes);
#pragma GCC unroll 16
      for (std::size_t p = 0; p < pixels; ++p) {
        const std::uint16_t* pixel = from[p / 4] + p % 4 * step;
        const Words values = Words{} + load<std::uint32_t>(pixel + 2 * i);
        for (std::size_t v = 0; v < Vectors; ++v)
          sums[First + p][v] = multiply_add(sums[First + p][v], factors[v], values);
      }
    }
    for (auto& pointer : from) pointer += 2 * at_once;
  }
}

template <std::size_t Pixels, std::size_t Channels>
inline void convolve(const Meeting& meeting, const std::uint16_t* source, const std::uint32_t* weights,
                     const std::uint16_t* addend, std::uint16_t* result) {
  constexpr std::size_t vectors = Channels / lanes;
  Floats sums[Pixels][vectors];
#pragma GCC unroll 16
  for (std::size_t p = 0; p < Pixels; ++p)
#pragma GCC unroll 2
    for (std::size_t v = 0; v < vectors; ++v)
      sums[p][v] = addend == nullptr
                       ? Floats{}
                       : reinterpret_cast<Floats>(widened(addend + p * meeting.result_step + v * lanes) << 16);
  for (const Tap* tap = meeting.taps; tap != meeting.taps + meeting.tap_count; ++tap) {
    const std::uint16_t* from = source + tap->source;
    const std::uint32_t* factors = weights + tap->weights;
    if (tap->missing == Missing::none) {
      add_tap<0, Pixels>(sums, meeting.pairs, meeting.source_step, from, factors);
    } else if constexpr (Pixels > 1) {
      if (tap->missing == Missing::first) {
        add_tap<1, Pixels>(sums, meeting.pairs, meeting.source_step, from, factors);
      } else {
        add_tap<0, Pixels - 1>(sums, meeting.pairs, meeting.source_step, from, factors);
      }
    }
  }
#pragma GCC unroll 16
  for (std::size_t p = 0; p < Pixels; ++p)
#pragma GCC unroll 2
    for (std::size_t v = 0; v < vectors; ++v)
      store(_mm512_cvtneps_pbh(reinterpret_cast<__m512>(sums[p][v])), result + p * meeting.result_step + v * lanes);
}

}  // namespace

void pair_up(const Planes& planes, const std::uint16_t* first, const std::uint16_t* second, std::uint32_t* words) {
  for (std::size_t pixel = 0; pixel < planes.pixels; ++pixel)
    for (std::size_t channel = 0; channel < planes.channels; channel += lanes) {
      const std::size_t from = pixel * planes.channels + channel;
      const Words both =
          second == nullptr ? widened(first + from) : widened(first + from) | widened(second + from) << 16;
      std::uint32_t* to = words + channel / planes.width * planes.step + pixel * planes.width + channel % planes.width;
      if (planes.width == lanes / 2) {
        store(__builtin_shufflevector(both, both, 0, 1, 2, 3, 4, 5, 6, 7), to);
        store(__builtin_shufflevector(both, both, 8, 9, 10, 11, 12, 13, 14, 15), to + planes.step);
      } else {
        store(both, to);
      }
    }
}

void convolve_narrow(const Meeting& meeting, const std::uint16_t* source, const std::uint32_t* weights,
                     const std::uint16_t* addend, std::uint16_t* result) {
  convolve<narrow_tile.pixels, narrow_tile.channels>(meeting, source, weights, addend, result);
}

void convolve_wide(const Meeting& meeting, const std::uint16_t* source, const std::uint32_t* weights,
                   const std::uint16_t* addend, std::uint16_t* result) {
  convolve<wide_tile.pixels, wide_tile.channels>(meeting, source, weights, addend, result);
}

void convolve_one_narrow(const Meeting& meeting, const std::uint16_t* source, const std::uint32_t* weights,
                         const std::uint16_t* addend, std::uint16_t* result) {
  convolve<1, narrow_tile.channels>(meeting, source, weights, addend, result);
}

void convolve_one_wide(const Meeting& meeting, const std::uint16_t* source, const std::uint32_t* weights,
                       const std::uint16_t* addend, std::uint16_t* result) {
  convolve<1, wide_tile.channels>(meeting, source, weights, addend, result);
}

void sum_narrow(const ImagePairs& together, const std::uint32_t* x, const std::uint32_t* dy, Sums sums) {
  sum<narrow_weights>(together, x, dy, sums);
}

void sum_wide(const ImagePairs& together, const std::uint32_t* x, const std::uint32_t* dy, Sums sums) {
  sum<wide_weights>(together, x, dy, sums);
}

#else

// Never called: bf16_convolution_available() is false.
void pair_up(const Planes&, const std::uint16_t*, const std::uint16_t*, std::uint32_t*) {}
void convolve_narrow(const Meeting&, const std::uint16_t*, const std::uint32_t*, const std::uint16_t*, std::uint16_t*) {
}
void convolve_wide(const Meeting&, const std::uint16_t*, const std::uint32_t*, const std::uint16_t*, std::uint16_t*) {}
void convolve_one_narrow(const Meeting&, const std::uint16_t*, const std::uint32_t*, const std::uint16_t*,
                         std::uint16_t*) {}
void convolve_one_wide(const Meeting&, const std::uint16_t*, const std::uint32_t*, const std::uint16_t*,
                       std::uint16_t*) {}
void sum_narrow(const ImagePairs&, const std::uint32_t*, const std::uint32_t*, Sums) {}
void sum_wide(const ImagePairs&, const std::uint32_t*, const std::uint32_t*, Sums) {}

#endif

}  // namespace regroup::bf16
