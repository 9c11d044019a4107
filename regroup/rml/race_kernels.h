#pragma once

#include <cstddef>
#include <cstdint>

namespace regroup {

/// What the race does with 32 samples at a time; counts are multiples of 32.
#define REGROUP_RACE_KERNELS                                                                                           \
  /* group_of[i] = the random group of sample i where random[i] < sure[i], else no_group. Bit i of `look` is set where \
   */                                                                                                                  \
  /* the byte is a tie (random[i] == sure[i]), or where heavy[i] is 255 and the sample has not arrived. */             \
  void race_bytes(const std::uint8_t* random, const std::uint8_t* group_random, const std::uint8_t* sure,              \
                  const std::uint8_t* heavy, int groups, std::size_t count, std::uint8_t* group_of,                    \
                  std::uint32_t* look);                                                                                \
  /* sizes[g] = how many samples are in group g. */                                                                    \
  void group_sizes(const std::uint8_t* group_of, std::size_t count, int groups, std::uint32_t* sizes);                 \
  /* sums[g] = the sum of the values in group g. */                                                                    \
  void group_sums(const std::uint8_t* group_of, const float* values, std::size_t count, int groups, double* sums);

namespace baseline {
REGROUP_RACE_KERNELS
}
namespace avx2 {
REGROUP_RACE_KERNELS
}
#undef REGROUP_RACE_KERNELS

}  // namespace regroup
