#pragma once

namespace regroup {

/// What this processor has. Kernels are compiled several times (regroup_kernels in cmake/Layer.cmake): for any
/// processor of the architecture into namespace `baseline` and, on x86-64, with AVX2 into namespace `avx2`, some with
/// AVX-512 into `avx512`. All give the same bits.
///
/// The environment variable REGROUP_CPU takes it for a lesser one, `avx2` or `baseline`, so that tests see what others
/// will.
bool cpu_has_avx2();
bool cpu_has_fma();  ///< and AVX2

/// AVX-512 with its bf16 instructions. Every processor with AMX tiles for bf16 has these too.
bool cpu_has_avx512_bf16();

}  // namespace regroup

#if defined(__x86_64__)
#define REGROUP_BEST_KERNEL(name) (::regroup::cpu_has_avx2() ? avx2::name : baseline::name)
#define REGROUP_WIDEST_KERNEL(name) (::regroup::cpu_has_avx512_bf16() ? avx512::name : REGROUP_BEST_KERNEL(name))
#else
#define REGROUP_BEST_KERNEL(name) baseline::name
#define REGROUP_WIDEST_KERNEL(name) baseline::name
#endif
