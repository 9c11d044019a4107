#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "regroup/nn/network.h"

namespace regroup {

/// Everything that a run remembers from step to step, as tensors under names. What is added here is saved with each
/// checkpoint and filled again on resume, so that the run goes on as if it had never stopped.
class State {
 public:
  void add(const std::string& name, const at::Tensor& tensor) { tensors_.push_back({name, tensor}); }
  void add(const std::string& prefix, const std::vector<NamedTensor>& tensors);

  /// A vector whose size stays what it is, and which lives as long as the state is used.
  void add(const std::string& name, std::vector<float>& values);
  void add(const std::string& name, std::vector<std::int32_t>& values);
  void add(const std::string& name, std::int64_t& value);

  const std::vector<NamedTensor>& tensors() const { return tensors_; }

 private:
  std::vector<NamedTensor> tensors_;
};

}  // namespace regroup
