#pragma once

#include <cstddef>
#include <cstdint>

namespace regroup {

/// What a draw does with many samples at a time. Counts are multiples of 32; masks have a bit a sample.
#define REGROUP_DRAW_KERNELS                                                                                          \
  /* Bit i of `arrived` is set where random[i] < sure[i]. Bit i of `look` is set where the byte is a tie */           \
  /* (random[i] == sure[i]), or where heavy[i] is 255 and the sample has not arrived. Gives how many have arrived. */ \
  std::uint32_t race_bytes(const std::uint8_t* random, const std::uint8_t* sure, const std::uint8_t* heavy,           \
                           std::size_t count, std::uint32_t* arrived, std::uint32_t* look);                           \
  /* The values whose bits are set, one after another; writes up to 8 values beyond them. */                          \
  void compact(const float* values, const std::uint32_t* mask, std::size_t count, float* out);                        \
  /* group_of[i] = random[i] * groups / 256. */                                                                       \
  void byte_groups(const std::uint8_t* random, int groups, std::size_t count, std::uint8_t* group_of);                \
  /* sizes[g] = how many samples are in group g. */                                                                   \
  void group_sizes(const std::uint8_t* group_of, std::size_t count, int groups, std::uint32_t* sizes);                \
  /* sums[g] = the sum of the values in group g. */                                                                   \
  void group_sums(const std::uint8_t* group_of, const float* values, std::size_t count, int groups, double* sums);

namespace baseline {
REGROUP_DRAW_KERNELS
}
namespace avx2 {
REGROUP_DRAW_KERNELS
}
namespace avx512 {
REGROUP_DRAW_KERNELS
}
#undef REGROUP_DRAW_KERNELS

}  // namespace regroup
