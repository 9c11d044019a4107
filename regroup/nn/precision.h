#pragma once

#include <c10/core/Device.h>

#include <string_view>

namespace regroup {

/// What convolutions compute in, and Linear::rounded. Weights, optimizer, batch statistics, logits and losses are fp32
/// always.
enum class Precision { fp32, bf16 };

/// `auto`, `fp32` or `bf16`. `auto` is bf16 where the device does it natively: elsewhere it is slower than fp32.
Precision choose_precision(std::string_view name, c10::Device device);

/// `auto`, `cpu` or `cuda`.
c10::Device choose_device(std::string_view name);

/// Whether the operations of this thread choose bf16 by themselves.
bool bf16_is_on(c10::Device device);

/// While it lives, the operations of this thread choose their precision by themselves (bf16), or are kept from it
/// (fp32).
class PrecisionScope {
 public:
  PrecisionScope(Precision precision, c10::Device device);
  ~PrecisionScope();
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  c10::DeviceType device_;
  bool was_enabled_, was_cached_;
};

}  // namespace regroup
