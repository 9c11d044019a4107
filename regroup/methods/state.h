#pragma once

#include <ATen/core/Tensor.h>

#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "regroup/nn/network.h"

namespace regroup {

/// What the numbers of a saved tensor can be. A checkpoint that says otherwise was damaged, or made by somebody else.
struct Bounds {
  double low = -std::numeric_limits<double>::max();
  double high = std::numeric_limits<double>::max();
  bool may_be_unknown = false;  ///< not a number stands for what is not known yet
  bool grows = false;           ///< a number per epoch: a run that gets more epochs has saved fewer numbers
};

/// Everything that a run remembers from step to step, as tensors under names. What is added here is saved with each
/// checkpoint and filled again on resume, so that the run continues as if it had never stopped.
class State {
 public:
  void add(const std::string& name, const at::Tensor& tensor, const Bounds& bounds = {});
  void add(const std::string& prefix, const std::vector<NamedTensor>& tensors);

  /// A vector whose size stays what it is, and which lives as long as the state is used.
  void add(const std::string& name, std::vector<float>& values, const Bounds& bounds);
  void add(const std::string& name, std::vector<std::int32_t>& values, const Bounds& bounds);
  void add(const std::string& name, std::int64_t& value, const Bounds& bounds);
  void add(const std::string& name, double& value, const Bounds& bounds);

  const std::vector<NamedTensor>& tensors() const { return tensors_; }

  /// The names of those that have a number per epoch.
  std::set<std::string> growing() const;

  /// The name of a tensor that is out of its bounds, if there is one.
  std::optional<std::string> out_of_bounds() const;

 private:
  std::vector<NamedTensor> tensors_;
  std::vector<Bounds> bounds_;  ///< of each tensor
};

/// Whether all numbers of a tensor are within the bounds.
bool is_within(const at::Tensor& tensor, const Bounds& bounds);

}  // namespace regroup
