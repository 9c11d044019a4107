// Compiled with AVX-512 (see core/simd.h): no inline function of a header may be used here, since the linker would keep
// the AVX-512 form of it for everybody.
#include "regroup/nn/weight_gradient_kernels.h"

#if defined(__AVX512BF16__)
#include <immintrin.h>
#endif

namespace regroup::weight_gradient {

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

/// In each lane: sum + a.lower * b.lower + a.upper * b.upper.
inline Floats multiply_add(Floats sum, Words a, Words b) {
  return reinterpret_cast<Floats>(
      _mm512_dpbf16_ps(reinterpret_cast<__m512>(sum), reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b)));
}

template <Tile Size>
void sum(const Meeting& meeting, const std::uint32_t* x, const std::uint32_t* dy, const Sums& result) {
  constexpr std::size_t vectors = Size.in / lanes;
  Floats sums[Size.out][vectors];
  for (std::size_t k = 0; k < Size.out; ++k)
    for (std::size_t v = 0; v < vectors; ++v)
      sums[k][v] = result.add ? load<Floats>(result.dw + k * result.stride + v * lanes) : Floats{};
  for (std::size_t pair = 0; pair < meeting.pairs; ++pair)
    for (std::size_t row = 0; row < meeting.rows; ++row) {
      const std::uint32_t* from = x + pair * meeting.x.pair + row * meeting.x.row;
      const std::uint32_t* gradients = dy + pair * meeting.dy.pair + row * meeting.dy.row;
      for (std::size_t column = 0; column < meeting.columns; ++column) {
        Words values[vectors];
        for (std::size_t v = 0; v < vectors; ++v) values[v] = load<Words>(from + v * lanes);
        for (std::size_t k = 0; k < Size.out; ++k) {
          const Words gradient = Words{} + gradients[k];
          for (std::size_t v = 0; v < vectors; ++v) sums[k][v] = multiply_add(sums[k][v], values[v], gradient);
        }
        from += meeting.x.column;
        gradients += meeting.dy.column;
      }
    }
  for (std::size_t k = 0; k < Size.out; ++k)
    for (std::size_t v = 0; v < vectors; ++v) store(sums[k][v], result.dw + k * result.stride + v * lanes);
}

inline Words widened(const std::uint16_t* from) { return __builtin_convertvector(load<Halves>(from), Words); }

}  // namespace

void pair_up(std::size_t values, const std::uint16_t* first, const std::uint16_t* second, std::uint32_t* words) {
  for (std::size_t i = 0; i < values; i += lanes)
    store(second == nullptr ? widened(first + i) : widened(first + i) | widened(second + i) << 16, words + i);
}

void sum_narrow(const Meeting& meeting, const std::uint32_t* x, const std::uint32_t* dy, Sums sums) {
  sum<narrow>(meeting, x, dy, sums);
}

void sum_wide(const Meeting& meeting, const std::uint32_t* x, const std::uint32_t* dy, Sums sums) {
  sum<wide>(meeting, x, dy, sums);
}

#else

// Never called: weight_gradient_available() is false.
void pair_up(std::size_t, const std::uint16_t*, const std::uint16_t*, std::uint32_t*) {}
void sum_narrow(const Meeting&, const std::uint32_t*, const std::uint32_t*, Sums) {}
void sum_wide(const Meeting&, const std::uint32_t*, const std::uint32_t*, Sums) {}

#endif

}  // namespace regroup::weight_gradient
