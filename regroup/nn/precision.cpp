#include "regroup/nn/precision.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <fmt/format.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include "regroup/core/error.h"
#include "regroup/nn/engine.h"

namespace regroup {
namespace {

bool autocast_enabled(c10::DeviceType device) {
#if TORCH_VERSION_MAJOR >= 2
  return at::autocast::is_autocast_enabled(device);
#else
  return device == at::kCUDA ? at::autocast::is_enabled() : at::autocast::is_cpu_enabled();
#endif
}

void enable_autocast(c10::DeviceType device, bool enabled) {
#if TORCH_VERSION_MAJOR >= 2
  at::autocast::set_autocast_enabled(device, enabled);
  at::autocast::set_autocast_dtype(device, at::kBFloat16);
#else
  if (device == at::kCUDA) {
    at::autocast::set_enabled(enabled);
    at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
  } else {
    at::autocast::set_cpu_enabled(enabled);
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
  }
#endif
}

}  // namespace

Precision choose_precision(std::string_view name, c10::Device device) {
  if (name == "fp32") return Precision::fp32;
  if (name == "bf16") return Precision::bf16;
  if (name != "auto") throw UserError(fmt::format("unknown precision '{}'; known: auto, fp32, bf16", name));
  // Every GPU of the last years computes in bf16.
  return device.is_cuda() || cpu_has_bf16() ? Precision::bf16 : Precision::fp32;
}

c10::Device choose_device(std::string_view name) {
  const bool has_cuda = torch::cuda::is_available();
  if (name == "cpu" || (name == "auto" && !has_cuda)) return at::kCPU;
  if (name != "auto" && name != "cuda")
    throw UserError(fmt::format("unknown device '{}'; known: auto, cpu, cuda", name));
  if (!has_cuda) throw UserError("there is no CUDA device that this engine can use; give --device cpu");
  return {at::kCUDA, 0};
}

bool bf16_is_on(c10::Device device) { return autocast_enabled(device.type()); }

PrecisionScope::PrecisionScope(Precision precision, c10::Device device)
    : device_(device.type()),
      was_enabled_(autocast_enabled(device.type())),
      was_cached_(at::autocast::is_autocast_cache_enabled()) {
  enable_autocast(device_, precision == Precision::bf16);
  // The cache would keep copies of the weights, which are stale after the next step, and which know no gradient if they
  // were made where none was asked for.
  at::autocast::set_autocast_cache_enabled(false);
}

PrecisionScope::~PrecisionScope() {
  enable_autocast(device_, was_enabled_);
  at::autocast::set_autocast_cache_enabled(was_cached_);
}

}  // namespace regroup
