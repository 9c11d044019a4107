#pragma once

namespace regroup {

/// What this processor has. Kernels are compiled several times (regroup_kernels in cmake/Layer.cmake): for any
/// processor of the architecture into namespace `baseline` and, on x86-64, with AVX2 into namespace `avx2`, some with
/// AVX-512 into `avx512`. All give the same bits.
inline bool cpu_has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

/// AVX-512 with its bf16 instructions. Every processor with AMX tiles for bf16 has these too.
inline bool cpu_has_avx512_bf16() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

}  // namespace regroup

#if defined(__x86_64__)
#define REGROUP_BEST_KERNEL(name) (::regroup::cpu_has_avx2() ? avx2::name : baseline::name)
#define REGROUP_WIDEST_KERNEL(name) (::regroup::cpu_has_avx512_bf16() ? avx512::name : REGROUP_BEST_KERNEL(name))
#else
#define REGROUP_BEST_KERNEL(name) baseline::name
#define REGROUP_WIDEST_KERNEL(name) baseline::name
#endif
