#pragma once

namespace regroup {

/// Whether this processor has AVX2. Kernels are compiled twice (regroup_kernels in cmake/Layer.cmake), once for any
/// processor of the architecture into namespace `baseline` and, on x86-64, once with AVX2 into namespace `avx2`. Both
/// give the same bits.
inline bool cpu_has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

}  // namespace regroup

#if defined(__x86_64__)
#define REGROUP_BEST_KERNEL(name) (::regroup::cpu_has_avx2() ? avx2::name : baseline::name)
#else
#define REGROUP_BEST_KERNEL(name) baseline::name
#endif
