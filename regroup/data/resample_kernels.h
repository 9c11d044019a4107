#pragma once

#include <cstddef>
#include <cstdint>

namespace regroup {

/// Weights sum to 1 << weight_bits; sums between the two passes are values times 1 << sum_bits, which fits 16 bits.
inline constexpr int weight_bits = 14;
inline constexpr int sum_bits = 7;

/// So many sums behind the last one that counts are read by sum_columns, whatever their values.
inline constexpr std::size_t sums_read_over = 2;

#define REGROUP_RESAMPLE_KERNELS                                                                                       \
  /* sums[i] = rows[0][i] * weights[0] + rows[1][i] * weights[1] + ..., rounded to sum_bits. `taps` is even. */        \
  void sum_rows(const std::uint8_t* const* rows, const std::int16_t* weights, std::size_t taps, std::size_t count,     \
                std::int16_t* sums);                                                                                   \
  /* The three values of pixel i are the sums of the pixels first[i], first[i] + 1, ... with the next `taps` */        \
  /* weights, rounded. `taps` is even. */                                                                              \
  void sum_columns(const std::int16_t* sums, const std::int32_t* first, const std::int16_t* weights, std::size_t taps, \
                   std::size_t pixels, std::uint8_t* out);

namespace baseline {
REGROUP_RESAMPLE_KERNELS
}
namespace avx2 {
REGROUP_RESAMPLE_KERNELS
}
#undef REGROUP_RESAMPLE_KERNELS

}  // namespace regroup
