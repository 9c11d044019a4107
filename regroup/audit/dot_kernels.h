#pragma once

#include <cstddef>

namespace regroup {

#define REGROUP_DOT_KERNELS                                             \
  /* The sum of products, added up in sixteen parts: value i to part */ \
  /* i % 16, then part by part. */                                      \
  float dot(const float* left, const float* right, std::size_t size);

namespace baseline {
REGROUP_DOT_KERNELS
}
namespace avx2 {
REGROUP_DOT_KERNELS
}
#undef REGROUP_DOT_KERNELS

}  // namespace regroup
