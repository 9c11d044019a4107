#pragma once

#include <cstddef>
#include <cstdint>

namespace regroup {

#define REGROUP_VECTOR_KERNELS                                                                                     \
  /* out[i] = in[i] * scale[i] + offset[i], of numbers that lie anywhere; float16 and bfloat16 widened exactly. */ \
  void standardise_float32(const std::byte* in, std::size_t count, const float* scale, const float* offset,        \
                           float* out);                                                                            \
  void standardise_float16(const std::byte* in, std::size_t count, const float* scale, const float* offset,        \
                           float* out);                                                                            \
  void standardise_bfloat16(const std::byte* in, std::size_t count, const float* scale, const float* offset,       \
                            float* out);                                                                           \
  /* The same, rounded to bf16. */                                                                                 \
  void round_float32(const std::byte* in, std::size_t count, const float* scale, const float* offset,              \
                     std::uint16_t* out);                                                                          \
  void round_float16(const std::byte* in, std::size_t count, const float* scale, const float* offset,              \
                     std::uint16_t* out);                                                                          \
  void round_bfloat16(const std::byte* in, std::size_t count, const float* scale, const float* offset,             \
                      std::uint16_t* out);

namespace baseline {
REGROUP_VECTOR_KERNELS
}
namespace avx2 {
REGROUP_VECTOR_KERNELS
}
#undef REGROUP_VECTOR_KERNELS

}  // namespace regroup
