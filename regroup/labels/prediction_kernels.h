#pragma once

#include <cstddef>
#include <cstdint>

namespace regroup {

#define REGROUP_PREDICTION_KERNELS                                                                              \
  /* out[i] = before + (now[i] - before) * part. */                                                             \
  void move_towards(float before, const float* now, float part, std::size_t count, float* out);                 \
  /* The places of the `wanted` largest values, 16 at most, as many as there are; the first of equals first. */ \
  void find_largest(const float* values, std::size_t count, std::size_t wanted, std::int32_t* places);

namespace baseline {
REGROUP_PREDICTION_KERNELS
}
namespace avx2 {
REGROUP_PREDICTION_KERNELS
}
namespace avx512 {
REGROUP_PREDICTION_KERNELS
}
#undef REGROUP_PREDICTION_KERNELS

}  // namespace regroup
