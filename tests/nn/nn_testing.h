#pragma once

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <cstdint>

#include "regroup/core/random.h"

namespace regroup {

/// Normal numbers, the same with every engine.
inline at::Tensor normal_tensor(at::IntArrayRef sizes, std::uint32_t index) {
  const at::Tensor tensor = at::empty(sizes, at::kFloat);
  Stream stream(1, Purpose::synthetic, 0, index);
  auto* const values = tensor.data_ptr<float>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i) values[i] = static_cast<float>(stream.normal());
  return tensor;
}

/// The largest difference, as a part of the value where that is above 1; not a number if there is one in either.
inline double difference(const at::Tensor& tensor, const at::Tensor& expected) {
  if (tensor.sizes() != expected.sizes()) return INFINITY;
  const at::Tensor wanted = expected.detach().to(at::kDouble);
  return ((tensor.detach().to(at::kDouble) - wanted).abs() / wanted.abs().clamp_min(1)).max().item<double>();
}

}  // namespace regroup
