// Compiled with AVX2 and FMA and with AVX-512 and its bf16 (see core/simd.h): no inline function of a header may be
// used here.
#include "regroup/nn/kernels/linear_kernels.h"

#include <utility>

#if defined(__AVX512BF16__)
#include <immintrin.h>
#endif

namespace regroup::REGROUP_KERNELS {
namespace {

// As many sums as the processor has registers for, beside what they are computed from.
#if defined(__AVX512BF16__)
constexpr std::size_t lanes = 16, dot_rows = 4, dot_columns = 6, sum_rows = 10, sum_vectors = 2;
#else
constexpr std::size_t lanes = 8, dot_rows = 3, dot_columns = 4, sum_rows = 6, sum_vectors = 2;
#endif
constexpr std::size_t panel = lanes * sum_vectors;

using Floats = float __attribute__((vector_size(4 * lanes)));
using Words = std::uint32_t __attribute__((vector_size(4 * lanes)));

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

/// The first `count` of a vector, and zeros.
inline Words load_some(const std::uint32_t* from, std::size_t count) {
  std::uint32_t values[lanes] = {};
  for (std::size_t i = 0; i < count; ++i) values[i] = from[i];
  return load<Words>(values);
}

struct Fp32 {
  static Floats multiply_add(Floats sum, Words a, Words b) {
    return sum + reinterpret_cast<Floats>(a) * reinterpret_cast<Floats>(b);
  }
};

#if defined(__AVX512BF16__)
struct Bf16Pairs {
  static Floats multiply_add(Floats sum, Words a, Words b) {
    return reinterpret_cast<Floats>(
        _mm512_dpbf16_ps(reinterpret_cast<__m512>(sum), reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b)));
  }
};
#endif

/// Lane i is the sum of two lanes, i and the one at `Distance`: of a where i has no such bit, of b where it has.
template <std::size_t Distance, std::size_t... I>
inline Floats merged(Floats a, Floats b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, ((I & Distance) != 0 ? I + lanes : I)...) +
         __builtin_shufflevector(a, b, ((I & Distance) != 0 ? (I ^ Distance) + lanes : I ^ Distance)...);
}

/// Adds up the lanes of each of N vectors, in place; where_of says where the sums are then.
template <std::size_t N, std::size_t Distance = lanes / 2>
[[gnu::always_inline]] inline void add_lanes(Floats* vectors) {
  constexpr std::size_t half = (N + 1) / 2;
#pragma GCC unroll 32
  for (std::size_t i = 0; i < half; ++i)
    vectors[i] = merged<Distance>(vectors[i], vectors[i + half < N ? i + half : i], std::make_index_sequence<lanes>());
  if constexpr (Distance > 1) add_lanes<half, Distance / 2>(vectors);
}

constexpr std::size_t where_of(std::size_t vector, std::size_t n) {
  std::size_t lane = 0;
  for (std::size_t distance = lanes / 2; distance > 0; distance /= 2) {
    const std::size_t half = (n + 1) / 2;
    if (vector >= half) {
      lane += distance;
      vector -= half;
    }
    n = half;
  }
  return vector * lanes + lane;
}

template <class Product, std::size_t Columns>
void dots(const DotTile& tile) {
  Floats sums[dot_rows * Columns];
#pragma GCC unroll 32
  for (auto& sum : sums) sum = Floats{};
  const auto add = [&](const auto& loaded, std::size_t at) __attribute__((always_inline)) {
    Words x[dot_rows];
#pragma GCC unroll 4
    for (std::size_t r = 0; r < dot_rows; ++r) x[r] = loaded(tile.x[r] + at);
#pragma GCC unroll 6
    for (std::size_t c = 0; c < Columns; ++c) {
      const Words w = loaded(tile.w + c * tile.w_step + at);
#pragma GCC unroll 4
      for (std::size_t r = 0; r < dot_rows; ++r)
        sums[r * Columns + c] = Product::multiply_add(sums[r * Columns + c], x[r], w);
    }
  };
  const std::size_t whole = tile.words - tile.words % lanes;
  for (std::size_t at = 0; at < whole; at += lanes)
    add(
        [](const std::uint32_t* from) __attribute__((always_inline)) { return load<Words>(from); }, at);
  if (whole < tile.words)
    add([rest = tile.words - whole](const std::uint32_t* from) { return load_some(from, rest); }, whole);

  add_lanes<dot_rows * Columns>(sums);
  constexpr std::size_t vectors = (dot_rows * Columns + lanes - 1) / lanes;
  float values[vectors * lanes];
#pragma GCC unroll 4
  for (std::size_t i = 0; i < vectors; ++i) store(sums[i], values + i * lanes);
#pragma GCC unroll 4
  for (std::size_t r = 0; r < dot_rows; ++r)
#pragma GCC unroll 6
    for (std::size_t c = 0; c < Columns; ++c)
      tile.y[r][c] = values[where_of(r * Columns + c, dot_rows * Columns)] + tile.bias[c];
}

template <class Product, std::size_t Rows>
void sums(const SumTile& tile) {
  Floats sums[Rows][sum_vectors];
#pragma GCC unroll 10
  for (std::size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 2
    for (std::size_t v = 0; v < sum_vectors; ++v) sums[r][v] = Floats{};
  const std::uint32_t *a = tile.a, *b = tile.panel;
  for (std::size_t k = 0; k < tile.count; ++k, a += tile.a_step, b += panel) {
    Words columns[sum_vectors];
#pragma GCC unroll 2
    for (std::size_t v = 0; v < sum_vectors; ++v) columns[v] = load<Words>(b + v * lanes);
#pragma GCC unroll 10
    for (std::size_t r = 0; r < Rows; ++r) {
      const Words factor = Words{} + a[r];
#pragma GCC unroll 2
      for (std::size_t v = 0; v < sum_vectors; ++v) sums[r][v] = Product::multiply_add(sums[r][v], columns[v], factor);
    }
  }
  float rest[panel];
#pragma GCC unroll 10
  for (std::size_t r = 0; r < Rows; ++r) {
    float* const result = tile.result + r * tile.result_step;
    if (tile.columns == panel) {
#pragma GCC unroll 2
      for (std::size_t v = 0; v < sum_vectors; ++v)
        store(tile.add ? load<Floats>(result + v * lanes) + sums[r][v] : sums[r][v], result + v * lanes);
    } else {
#pragma GCC unroll 2
      for (std::size_t v = 0; v < sum_vectors; ++v) store(sums[r][v], rest + v * lanes);
      for (std::size_t i = 0; i < tile.columns; ++i) result[i] = tile.add ? result[i] + rest[i] : rest[i];
    }
  }
}

template <class Product, std::size_t... Columns>
void dots_of(const DotTile& tile, std::index_sequence<Columns...>) {
  constexpr void (*by_columns[])(const DotTile&) = {dots<Product, Columns + 1>...};
  by_columns[tile.columns - 1](tile);
}

template <class Product, std::size_t... Rows>
void sums_of(const SumTile& tile, std::index_sequence<Rows...>) {
  constexpr void (*by_rows[])(const SumTile&) = {sums<Product, Rows + 1>...};
  by_rows[tile.rows - 1](tile);
}

template <class Product>
void dots_with(const DotTile& tile) {
  dots_of<Product>(tile, std::make_index_sequence<dot_columns>());
}

template <class Product>
void sums_with(const SumTile& tile) {
  sums_of<Product>(tile, std::make_index_sequence<sum_rows>());
}

#if defined(__AVX512BF16__)
using Halves = std::uint16_t __attribute__((vector_size(2 * lanes)));

void round(const float* from, std::size_t count, std::uint16_t* to) {
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) store(_mm512_cvtneps_pbh(_mm512_loadu_ps(from + i)), to + i);
  if (i == count) return;
  const auto rest = static_cast<__mmask16>((1U << (count - i)) - 1);
  const auto halves = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(rest, from + i)));
  _mm256_mask_storeu_epi16(to + i, rest, halves);
}

void pair(const std::uint16_t* first, const std::uint16_t* second, std::size_t count, std::uint32_t* words) {
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    store(__builtin_convertvector(load<Halves>(first + i), Words) |
              __builtin_convertvector(load<Halves>(second + i), Words) << 16,
          words + i);
  for (; i < count; ++i) words[i] = first[i] | static_cast<std::uint32_t>(second[i]) << 16;
}
#endif

}  // namespace

LinearKernels linear_kernels() {
  LinearKernels kernels{dot_rows,        dot_columns, sum_rows, panel,   dots_with<Fp32>,
                        sums_with<Fp32>, nullptr,     nullptr,  nullptr, nullptr};
#if defined(__AVX512BF16__)
  kernels.dots_of_pairs = dots_with<Bf16Pairs>;
  kernels.sums_of_pairs = sums_with<Bf16Pairs>;
  kernels.round = round;
  kernels.pair = pair;
#endif
  return kernels;
}

}  // namespace regroup::REGROUP_KERNELS
