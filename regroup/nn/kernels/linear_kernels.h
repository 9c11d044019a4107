#pragma once

#include <cstddef>
#include <cstdint>

namespace regroup {

/// The inner loops of linear.h compute with words: numbers of fp32, or pairs of bf16 whose two products are added up.
///
/// y[row][column] = the dot product of two rows of words, plus bias[column]. There are as many rows as the kernels
/// say: whoever has fewer gives some of them again.
struct DotTile {
  const std::uint32_t* const* x;
  const std::uint32_t* w;
  std::size_t w_step;   ///< words from column to column
  std::size_t columns;  ///< 1 .. columns of the kernels
  std::size_t words;
  const float* bias;
  float* const* y;  ///< where the columns of each row begin
};

/// result[row][column] (+)= the sum over k of a[k][row] * panel[k][column].
struct SumTile {
  const std::uint32_t* a;
  std::size_t a_step;  ///< words from k to k + 1
  std::size_t rows;    ///< 1 .. sum_rows of the kernels
  const std::uint32_t* panel;
  std::size_t count;  ///< of k
  float* result;
  std::size_t result_step;
  std::size_t columns;  ///< that are stored: 1 .. panel of the kernels
  bool add;
};

struct LinearKernels {
  std::size_t rows, columns;    ///< of a tile of dot products
  std::size_t sum_rows, panel;  ///< of a tile of sums
  void (*dots)(const DotTile& tile);
  void (*sums)(const SumTile& tile);

  /// The same from pairs of bf16, and what makes these; null where the processor has no bf16.
  void (*dots_of_pairs)(const DotTile& tile);
  void (*sums_of_pairs)(const SumTile& tile);

  /// Numbers to bf16, nearest and ties to even.
  void (*round)(const float* from, std::size_t count, std::uint16_t* to);

  /// words[i] = the pair of first[i] and second[i].
  void (*pair)(const std::uint16_t* first, const std::uint16_t* second, std::size_t count, std::uint32_t* words);
};

namespace avx2 {
LinearKernels linear_kernels();
}
namespace avx512 {
LinearKernels linear_kernels();
}

}  // namespace regroup
