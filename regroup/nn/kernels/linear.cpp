#include "regroup/nn/kernels/linear.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "regroup/core/simd.h"
#include "regroup/nn/kernels/linear_kernels.h"

namespace regroup {
namespace {

LinearKernels kernels_of_this_processor() {
#if defined(__x86_64__)
  if (cpu_has_avx512_bf16()) return avx512::linear_kernels();
  if (cpu_has_fma()) return avx2::linear_kernels();
#endif
  return {};
}

using Words = const std::uint32_t*;

// The kernels read what they are given by copying it into registers, whatever its type.
Words words_of(const float* values) { return reinterpret_cast<Words>(values); }
Words words_of(const std::uint16_t* values) { return reinterpret_cast<Words>(values); }

void require(bool fits) {
  if (!fits) throw std::invalid_argument("a linear layer's tensors do not have the sizes of its shape");
}

/// How many of these pieces of work, of so many multiplications each, are worth a task of their own.
std::size_t pieces_at_a_time(std::size_t multiplications) {
  constexpr std::size_t worth_it = 400'000;
  return std::max<std::size_t>(worth_it / std::max<std::size_t>(multiplications, 1), 1);
}

constexpr std::size_t most_rows = 8;  // of a tile, for any kernels

struct Dots {
  const LinearKernels& kernels;
  std::size_t rows, columns, words;
  Words x, w;
  const float* bias;
  float* y;
  void (*kernel)(const DotTile&);

  /// Few rows stay in the fastest cache while all weights pass by.
  void run(const Workers& workers) const {
    const std::size_t block = 2 * kernels.rows, blocks = (rows + block - 1) / block;
    const std::size_t at_a_time = pieces_at_a_time(block * columns * words);
    for_each((blocks + at_a_time - 1) / at_a_time, workers, [&](std::size_t item, std::size_t) {
      for (std::size_t b = item * at_a_time; b < std::min(blocks, (item + 1) * at_a_time); ++b)
        run_block(b * block, std::min(rows, (b + 1) * block));
    });
  }

  void run_block(std::size_t begin, std::size_t end) const {
    for (std::size_t column = 0; column < columns; column += kernels.columns)
      for (std::size_t row = begin; row < end; row += kernels.rows) {
        std::array<Words, most_rows> from{};
        std::array<float*, most_rows> to{};
        for (std::size_t r = 0; r < kernels.rows; ++r) {
          const std::size_t one = std::min(row + r, end - 1);
          from[r] = x + one * words;
          to[r] = y + one * columns + column;
        }
        kernel({from.data(), w + column * words, words, std::min(kernels.columns, columns - column), words,
                bias + column, to.data()});
      }
  }
};

/// result[row][column] = the sum over k of a[k][row] * b[k][column], for k in pieces that fit into the fastest cache.
struct Sums {
  static constexpr std::size_t piece = 256;
  const LinearKernels& kernels;
  std::size_t count, rows, columns;
  Words a;
  float* result;
  void (*kernel)(const SumTile&);

  /// `fill(first, count, column, columns, panel)` writes that part of b, with zeros up to the width of a panel.
  template <class Fill>
  void run(LinearScratch& scratch, const Workers& workers, const Fill& fill) const {
    const std::size_t panels = (columns + kernels.panel - 1) / kernels.panel;
    const std::size_t at_a_time = pieces_at_a_time(count * rows * kernels.panel);
    scratch.panels.resize(std::max(scratch.panels.size(), workers.count));
    for_each((panels + at_a_time - 1) / at_a_time, workers, [&](std::size_t item, std::size_t worker) {
      std::vector<std::uint32_t>& panel = scratch.panels[worker];
      panel.resize(piece * kernels.panel);
      for (std::size_t p = item * at_a_time; p < std::min(panels, (item + 1) * at_a_time); ++p)
        for (std::size_t first = 0; first < count; first += piece) {
          const std::size_t column = p * kernels.panel, width = std::min(kernels.panel, columns - column);
          fill(first, std::min(piece, count - first), column, width, panel.data());
          run_panel(first, column, width, panel.data());
        }
    });
  }

  void run_panel(std::size_t first, std::size_t column, std::size_t width, Words panel) const {
    for (std::size_t row = 0; row < rows; row += kernels.sum_rows)
      kernel({a + first * rows + row, rows, std::min(kernels.sum_rows, rows - row), panel,
              std::min(piece, count - first), result + row * columns + column, columns, width, first > 0});
  }
};

/// Parts of rows of floats.
auto fill_from(Words b, std::size_t columns, const LinearKernels& kernels) {
  return [b, columns, panel_width = kernels.panel](std::size_t first, std::size_t count, std::size_t column,
                                                   std::size_t width, std::uint32_t* panel) {
    for (std::size_t k = 0; k < count; ++k, panel += panel_width) {
      std::copy_n(b + (first + k) * columns + column, width, panel);
      std::fill(panel + width, panel + panel_width, 0);
    }
  };
}

void sum_rows_of(std::span<const float> dy, std::span<float> dbias) {
  std::ranges::fill(dbias, 0.0F);
  const std::size_t out = dbias.size();
  for (std::size_t at = 0; at < dy.size(); at += out) {
    const float* const row = &dy[at];
    float* const sum = dbias.data();
#pragma omp simd
    for (std::size_t i = 0; i < out; ++i) sum[i] += row[i];
  }
}

}  // namespace

const LinearKernels& best_linear_kernels() {
  static const LinearKernels best = kernels_of_this_processor();
  return best;
}

RoundedRows round_rows(std::span<const float> from, std::size_t columns, std::span<std::uint16_t> to,
                       const Workers& workers, const LinearKernels& kernels) {
  const std::size_t step = RoundedRows::step(columns), rows = columns == 0 ? 0 : from.size() / columns;
  require(rows > 0 && from.size() == rows * columns && to.size() == rows * step);
  const std::size_t at_a_time = pieces_at_a_time(columns * 4);
  for_each((rows + at_a_time - 1) / at_a_time, workers, [&](std::size_t item, std::size_t) {
    for (std::size_t r = item * at_a_time; r < std::min(rows, (item + 1) * at_a_time); ++r) {
      kernels.round(from.data() + r * columns, columns, to.data() + r * step);
      if (step > columns) to[r * step + columns] = 0;
    }
  });
  return {rows, columns, to.data()};
}

bool linear_available() { return best_linear_kernels().dots != nullptr; }
bool rounded_linear_available() { return best_linear_kernels().dots_of_pairs != nullptr; }

void linear_forward(const LinearShape& s, std::span<const float> x, std::span<const float> w,
                    std::span<const float> bias, std::span<float> y, const Workers& workers,
                    const LinearKernels& kernels) {
  require(x.size() == s.rows * s.in && w.size() == s.out * s.in && bias.size() == s.out && y.size() == s.rows * s.out);
  Dots{kernels, s.rows, s.out, s.in, words_of(x.data()), words_of(w.data()), bias.data(), y.data(), kernels.dots}.run(
      workers);
}

void linear_forward(const RoundedRows& x, const RoundedRows& w, std::span<const float> bias, std::span<float> y,
                    const Workers& workers, const LinearKernels& kernels) {
  require(x.columns == w.columns && bias.size() == w.rows && y.size() == x.rows * w.rows);
  const std::size_t words = RoundedRows::step(x.columns) / 2;
  Dots{kernels,
       x.rows,
       w.rows,
       words,
       words_of(x.values),
       words_of(w.values),
       bias.data(),
       y.data(),
       kernels.dots_of_pairs}
      .run(workers);
}

void linear_backward_data(const LinearShape& s, std::span<const float> dy, std::span<const float> w,
                          std::span<float> dx, LinearScratch& scratch, const Workers& workers,
                          const LinearKernels& kernels) {
  require(dx.size() == s.rows * s.in && w.size() == s.out * s.in && dy.size() == s.rows * s.out);
  scratch.factors.resize(dy.size());
  const Words from = words_of(dy.data());
  for (std::size_t row = 0; row < s.rows; ++row)
    for (std::size_t k = 0; k < s.out; ++k) scratch.factors[k * s.rows + row] = from[row * s.out + k];
  Sums{kernels, s.out, s.rows, s.in, scratch.factors.data(), dx.data(), kernels.sums}.run(
      scratch, workers, fill_from(words_of(w.data()), s.in, kernels));
}

void linear_backward_weights(const LinearShape& s, std::span<const float> x, std::span<const float> dy,
                             std::span<float> dw, std::span<float> dbias, LinearScratch& scratch,
                             const Workers& workers, const LinearKernels& kernels) {
  require(x.size() == s.rows * s.in && dw.size() == s.out * s.in && dbias.size() == s.out &&
          dy.size() == s.rows * s.out);
  Sums{kernels, s.rows, s.out, s.in, words_of(dy.data()), dw.data(), kernels.sums}.run(
      scratch, workers, fill_from(words_of(x.data()), s.in, kernels));
  sum_rows_of(dy, dbias);
}

void linear_backward_weights(const RoundedRows& x, std::span<const float> dy, std::span<float> dw,
                             std::span<float> dbias, LinearScratch& scratch, const Workers& workers,
                             const LinearKernels& kernels) {
  const std::size_t rows = x.rows, in = x.columns, out = dbias.size(), pairs = (rows + 1) / 2;
  require(dw.size() == out * in && dy.size() == rows * out);
  std::vector<std::uint16_t>& halves = scratch.halves;
  halves.assign(2 * pairs * out, 0);
  kernels.round(dy.data(), dy.size(), halves.data());
  scratch.factors.resize(pairs * out);
  for (std::size_t k = 0; k < pairs; ++k)
    kernels.pair(&halves[2 * k * out], &halves[(2 * k + 1) * out], out, &scratch.factors[k * out]);
  scratch.zeros.resize(kernels.panel);
  Sums{kernels, pairs, out, in, scratch.factors.data(), dw.data(), kernels.sums_of_pairs}.run(
      scratch, workers,
      [&](std::size_t first, std::size_t count, std::size_t column, std::size_t width, std::uint32_t* panel) {
        for (std::size_t k = first; k < first + count; ++k, panel += kernels.panel) {
          // The last row may have no partner.
          const std::uint16_t* const second = 2 * k + 1 < rows ? x.row(2 * k + 1) + column : scratch.zeros.data();
          kernels.pair(x.row(2 * k) + column, second, width, panel);
          std::fill(panel + width, panel + kernels.panel, 0);
        }
      });
  sum_rows_of(dy, dbias);
}

}  // namespace regroup
