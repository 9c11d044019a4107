#pragma once

#include <cstddef>
#include <cstdint>

namespace regroup {

/// Factors and offsets repeat after so many values: a multiple of the eight lanes and of 1, 2, 3 and 4 channels.
inline constexpr std::size_t channel_period = 24;

#define REGROUP_AUGMENT_KERNELS                                                                                       \
  /* out[i] = in[i] * scale[i % channel_period] + offset[i % channel_period], as float or as bfloat16. `in` may be */ \
  /* the last `count` bytes of what `out` takes: no byte is overwritten before it is read. */                         \
  void normalise_float(const std::uint8_t* in, std::size_t count, const float* scale, const float* offset,            \
                       std::byte* out);                                                                               \
  void normalise_bfloat(const std::uint8_t* in, std::size_t count, const float* scale, const float* offset,           \
                        std::byte* out);                                                                              \
  /* Copies pixels of 1 to 4 bytes, the last one first. */                                                            \
  void mirror(const std::uint8_t* in, std::size_t pixels, int channels, std::uint8_t* out);

namespace baseline {
REGROUP_AUGMENT_KERNELS
}
namespace avx2 {
REGROUP_AUGMENT_KERNELS
}
#undef REGROUP_AUGMENT_KERNELS

}  // namespace regroup
