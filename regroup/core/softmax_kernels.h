#pragma once

#include <cstddef>

namespace regroup {

/// What a look at a row of logits tells beside its softmax.
struct SoftmaxSums {
  float largest;            ///< of all logits
  float largest_other;      ///< of all but that of a label
  std::size_t where_other;  ///< the first that is as large
  float sum;                ///< of exp(logit - largest)
};

#define REGROUP_SOFTMAX_KERNELS                                                                      \
  /* shares[i] = exp(logits[i] - largest) / sum. */                                                  \
  SoftmaxSums softmax_row(const float* logits, std::size_t count, std::size_t label, float* shares); \
  /* out[i] = row[i] * factor. */                                                                    \
  void scale_row(const float* row, std::size_t count, float factor, float* out);

namespace baseline {
REGROUP_SOFTMAX_KERNELS
}
namespace avx2 {
REGROUP_SOFTMAX_KERNELS
}
namespace avx512 {
REGROUP_SOFTMAX_KERNELS
}
#undef REGROUP_SOFTMAX_KERNELS

}  // namespace regroup
