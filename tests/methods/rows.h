#pragma once

#include <ATen/ATen.h>

#include <vector>

namespace regroup {

/// A matrix from its rows, in double precision.
inline at::Tensor rows_of(const std::vector<std::vector<double>>& rows) {
  std::vector<at::Tensor> tensors;
  for (const auto& row : rows) tensors.push_back(at::tensor(row, at::kDouble));
  return at::stack(tensors);
}

}  // namespace regroup
