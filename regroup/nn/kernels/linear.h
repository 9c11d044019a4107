#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "regroup/core/workers.h"

namespace regroup {

struct LinearKernels;

/// The inner loops for this processor; without any where it has neither AVX2 with FMA nor AVX-512.
const LinearKernels& best_linear_kernels();

/// So many rows of `in` numbers become as many rows of `out` numbers; weights have `out` rows of `in` numbers.
struct LinearShape {
  std::size_t rows, in, out;
};

/// Memory that is kept from call to call.
struct LinearScratch {
  std::vector<std::uint32_t> factors;  ///< of all sums
  std::vector<std::uint16_t> halves, zeros;
  std::vector<std::vector<std::uint32_t>> panels;  ///< of each worker
};

/// Numbers that were rounded to bf16, of rows that are filled up to an even length with zeros.
struct RoundedRows {
  std::size_t rows, columns;
  const std::uint16_t* values;

  static std::size_t step(std::size_t columns) { return (columns + 1) / 2 * 2; }  ///< from row to row
  const std::uint16_t* row(std::size_t index) const { return values + index * step(columns); }
};

/// Whether this processor has what the following compute with: AVX2 and FMA, or AVX-512.
bool linear_available();

/// Whether it has AVX-512 with bf16, too.
bool rounded_linear_available();

/// Rounds rows of so many columns: `to` gets step(columns) for each.
RoundedRows round_rows(std::span<const float> from, std::size_t columns, std::span<std::uint16_t> to,
                       const Workers& workers, const LinearKernels& kernels = best_linear_kernels());

/// y = x w^T + bias. A row of y depends on its row of x alone, and no result on the workers. Throws
/// std::invalid_argument where sizes do not fit; so do the others.
void linear_forward(const LinearShape& shape, std::span<const float> x, std::span<const float> w,
                    std::span<const float> bias, std::span<float> y, const Workers& workers,
                    const LinearKernels& kernels = best_linear_kernels());
void linear_forward(const RoundedRows& x, const RoundedRows& w, std::span<const float> bias, std::span<float> y,
                    const Workers& workers, const LinearKernels& kernels = best_linear_kernels());

/// dx = dy w.
void linear_backward_data(const LinearShape& shape, std::span<const float> dy, std::span<const float> w,
                          std::span<float> dx, LinearScratch& scratch, const Workers& workers,
                          const LinearKernels& kernels = best_linear_kernels());

/// dw = dy^T x and dbias = the sum of the rows of dy. Beside x that was rounded, dy is rounded for dw, not for dbias.
void linear_backward_weights(const LinearShape& shape, std::span<const float> x, std::span<const float> dy,
                             std::span<float> dw, std::span<float> dbias, LinearScratch& scratch,
                             const Workers& workers, const LinearKernels& kernels = best_linear_kernels());
void linear_backward_weights(const RoundedRows& x, std::span<const float> dy, std::span<float> dw,
                             std::span<float> dbias, LinearScratch& scratch, const Workers& workers,
                             const LinearKernels& kernels = best_linear_kernels());

}  // namespace regroup
