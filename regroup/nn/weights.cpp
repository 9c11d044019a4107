#include "regroup/nn/weights.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "regroup/core/error.h"
#include "regroup/io/safetensors.h"

namespace regroup {
namespace {

constexpr std::array<std::pair<at::ScalarType, std::string_view>, 6> types{{{at::kFloat, "F32"},
                                                                            {at::kDouble, "F64"},
                                                                            {at::kLong, "I64"},
                                                                            {at::kInt, "I32"},
                                                                            {at::kByte, "U8"},
                                                                            {at::kBFloat16, "BF16"}}};

std::string_view type_name(at::ScalarType type) {
  const auto* const row = std::find_if(types.begin(), types.end(), [&](const auto& t) { return t.first == type; });
  if (row == types.end()) throw std::logic_error("a tensor of a type that is not saved");
  return row->second;
}

/// Copies the bytes into the tensor if type and shape fit.
bool fill(const at::Tensor& tensor, const TensorBytes& bytes) {
  if (bytes.dtype != type_name(tensor.scalar_type()) || tensor.sizes() != at::IntArrayRef(bytes.shape)) return false;
  at::NoGradGuard no_grad;
  const at::Tensor copy = at::empty(tensor.sizes(), tensor.scalar_type());
  // A tensor without numbers, of an epoch that has not been, has no address.
  if (!bytes.bytes.empty()) std::memcpy(copy.data_ptr(), bytes.bytes.data(), bytes.bytes.size());
  tensor.copy_(copy);
  return true;
}

/// The numbers of a tensor of a file in the type of ours; not defined where the shapes differ or there is no way.
at::Tensor as_type_of(const at::Tensor& tensor, const TensorBytes& bytes) {
  const auto* const row =
      std::find_if(types.begin(), types.end(), [&](const auto& t) { return t.second == bytes.dtype; });
  const bool is_half = bytes.dtype == "F16";
  if ((row == types.end() && !is_half) || tensor.sizes() != at::IntArrayRef(bytes.shape)) return {};
  const at::Tensor values = at::empty(tensor.sizes(), is_half ? at::kHalf : row->first);
  if (values.is_floating_point() != tensor.is_floating_point()) return {};
  if (!bytes.bytes.empty()) std::memcpy(values.data_ptr(), bytes.bytes.data(), bytes.bytes.size());
  return values.to(tensor.scalar_type());
}

}  // namespace

std::vector<NamedTensor> tensors_of(const Network& network) {
  std::vector<NamedTensor> tensors(network.parameters().begin(), network.parameters().end());
  tensors.insert(tensors.end(), network.buffers().begin(), network.buffers().end());
  return tensors;
}

void save_tensors(const std::filesystem::path& file, const std::vector<NamedTensor>& tensors,
                  const std::map<std::string, std::string>& metadata) {
  std::vector<at::Tensor> dense;  // keeps the bytes alive
  std::vector<TensorBytes> bytes;
  for (const NamedTensor& tensor : tensors) {
    dense.push_back(tensor.tensor.detach().cpu().contiguous());
    const at::Tensor& values = dense.back();
    bytes.push_back({tensor.name, std::string(type_name(values.scalar_type())), values.sizes().vec(),
                     std::span(static_cast<const std::byte*>(values.data_ptr()), values.nbytes())});
  }
  write_safetensors(file, bytes, metadata);
}

void load_tensors(const std::filesystem::path& file, const std::vector<NamedTensor>& tensors,
                  const std::set<std::string>& growing) {
  const SafetensorsFile content(file);
  for (const NamedTensor& tensor : tensors) {
    const TensorBytes* const bytes = content.find(tensor.name);
    if (bytes == nullptr)
      throw UserError(fmt::format("{}: there is no tensor '{}'; the file belongs to another network or run",
                                  file.string(), tensor.name));
    at::Tensor filled = tensor.tensor;
    if (growing.contains(tensor.name) && bytes->shape.size() == 1 && bytes->shape[0] < filled.size(0))
      filled = filled.narrow(0, 0, bytes->shape[0]);
    if (!fill(filled, *bytes))
      throw UserError(fmt::format("{}: tensor '{}' is {} [{}], not {} [{}]; the file belongs to another network or run",
                                  file.string(), tensor.name, bytes->dtype, fmt::join(bytes->shape, ", "),
                                  type_name(tensor.tensor.scalar_type()), fmt::join(tensor.tensor.sizes(), ", ")));
  }
}

Fit load_fitting_tensors(const std::filesystem::path& file, const std::vector<NamedTensor>& tensors) {
  const SafetensorsFile content(file);
  Fit fit;
  std::set<std::string_view> used;
  for (const NamedTensor& tensor : tensors) {
    const TensorBytes* bytes = content.find(tensor.name);
    if (bytes == nullptr) bytes = content.find("module." + tensor.name);
    if (bytes == nullptr) {
      if (!tensor.name.ends_with(".num_batches_tracked")) fit.missing.push_back(tensor.name);
      continue;
    }
    used.insert(bytes->name);
    const at::Tensor values = as_type_of(tensor.tensor, *bytes);
    if (!values.defined()) {
      fit.misfits.push_back({tensor.name, bytes->shape, tensor.tensor.sizes().vec()});
      continue;
    }
    if (!values.isfinite().all().item<bool>())
      throw UserError(fmt::format("{}: tensor '{}' has numbers that are not finite; fetch or convert the file again",
                                  file.string(), tensor.name));
    const at::NoGradGuard no_grad;
    tensor.tensor.copy_(values);
    fit.loaded.insert(tensor.name);
  }
  for (const TensorBytes& bytes : content.tensors())
    if (!used.contains(bytes.name)) fit.unused.push_back(bytes.name);
  if (fit.loaded.empty())
    throw UserError(fmt::format("{}: none of its {} tensors fits the network; it belongs to another one", file.string(),
                                content.tensors().size()));
  return fit;
}

}  // namespace regroup
