#include "regroup/nn/engine.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <malloc.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <string_view>

#include "regroup/core/simd.h"

namespace regroup {

bool cpu_has_bf16() { return cpu_has_avx512_bf16(); }

EngineInfo engine_info() {
  const bool debian = std::string_view(REGROUP_TORCH_NAME) == "debian";
  const auto devices = torch::cuda::is_available() ? torch::cuda::device_count() : 0;
  return {debian ? "libtorch (Debian)" : "PyTorch (Python)", TORCH_VERSION,
          devices > 0 ? fmt::format("cuda ({} device{})", devices, devices > 1 ? "s" : "") : "cpu",
          cpu_has_bf16() ? "bf16" : "fp32", at::get_num_threads()};
}

void keep_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_TOP_PAD, 64 << 20);
#endif
}

void set_engine_threads(int threads) { at::set_num_threads(threads); }

}  // namespace regroup
