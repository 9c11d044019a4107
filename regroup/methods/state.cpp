#include "regroup/methods/state.h"

#include <ATen/ATen.h>

namespace regroup {
namespace {

template <class T>
at::Tensor view_of(T* values, std::size_t count, at::ScalarType type) {
  return at::from_blob(values, {static_cast<std::int64_t>(count)}, type);
}

}  // namespace

void State::add(const std::string& prefix, const std::vector<NamedTensor>& tensors) {
  for (const NamedTensor& tensor : tensors) tensors_.push_back({prefix + tensor.name, tensor.tensor});
}

void State::add(const std::string& name, std::vector<float>& values) {
  add(name, view_of(values.data(), values.size(), at::kFloat));
}

void State::add(const std::string& name, std::vector<std::int32_t>& values) {
  add(name, view_of(values.data(), values.size(), at::kInt));
}

void State::add(const std::string& name, std::int64_t& value) { add(name, view_of(&value, 1, at::kLong)); }

}  // namespace regroup
