#pragma once

#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "regroup/core/error.h"
#include "regroup/io/safetensors.h"

/// The bytes are a safetensors file whose tensors fill it, or a UserError is thrown: nothing else is thrown, read or
/// written.
inline void check_safetensors(const std::string& bytes) {
  std::istringstream in(bytes);
  try {
    const regroup::SafetensorsFile file(in, "fuzz");
    std::size_t sum = 0;
    for (const auto& tensor : file.tensors()) {
      if (file.find(tensor.name) != &tensor) std::abort();
      std::size_t size = regroup::safetensors_size(tensor.dtype);
      for (const std::int64_t extent : tensor.shape) size *= static_cast<std::size_t>(extent);
      if (size != tensor.bytes.size()) std::abort();
      for (const std::byte value : tensor.bytes) sum += static_cast<std::size_t>(value);
    }
    if (sum > 255 * bytes.size()) std::abort();
  } catch (const regroup::UserError&) {
    return;
  }
}
