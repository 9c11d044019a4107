#include "regroup/methods/state.h"

#include <ATen/ATen.h>

namespace regroup {
namespace {

template <class T>
at::Tensor view_of(T* values, std::size_t count, at::ScalarType type) {
  return at::from_blob(values, {static_cast<std::int64_t>(count)}, type);
}

}  // namespace

void State::add(const std::string& name, const at::Tensor& tensor, const Bounds& bounds) {
  tensors_.push_back({name, tensor});
  bounds_.push_back(bounds);
}

void State::add(const std::string& prefix, const std::vector<NamedTensor>& tensors) {
  for (const NamedTensor& tensor : tensors) add(prefix + tensor.name, tensor.tensor);
}

void State::add(const std::string& name, std::vector<float>& values, const Bounds& bounds) {
  add(name, view_of(values.data(), values.size(), at::kFloat), bounds);
}

void State::add(const std::string& name, std::vector<std::int32_t>& values, const Bounds& bounds) {
  add(name, view_of(values.data(), values.size(), at::kInt), bounds);
}

void State::add(const std::string& name, std::int64_t& value, const Bounds& bounds) {
  add(name, view_of(&value, 1, at::kLong), bounds);
}

void State::add(const std::string& name, double& value, const Bounds& bounds) {
  add(name, view_of(&value, 1, at::kDouble), bounds);
}

std::set<std::string> State::growing() const {
  std::set<std::string> names;
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    if (bounds_[i].grows) names.insert(tensors_[i].name);
  return names;
}

std::optional<std::string> State::out_of_bounds() const {
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    if (!is_within(tensors_[i].tensor, bounds_[i])) return tensors_[i].name;
  return std::nullopt;
}

bool is_within(const at::Tensor& tensor, const Bounds& bounds) {
  at::Tensor values = tensor.detach();
  if (bounds.may_be_unknown) values = values.masked_select(values.isnan().logical_not());
  if (values.numel() == 0) return true;
  // The comparisons are false for what is not a number.
  const auto [least, most] = at::aminmax(values);
  return least.item<double>() >= bounds.low && most.item<double>() <= bounds.high;
}

}  // namespace regroup
