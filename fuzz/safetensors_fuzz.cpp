// Any bytes are a safetensors file whose tensors fill it, or a UserError: nothing else is thrown, read or written.
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "regroup/core/error.h"
#include "regroup/data/safetensors.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  try {
    const regroup::SafetensorsFile file(in, "fuzz");
    std::size_t sum = 0;
    for (const auto& tensor : file.tensors()) {
      if (file.find(tensor.name) != &tensor) std::abort();
      std::size_t bytes = regroup::safetensors_size(tensor.dtype);
      for (const std::int64_t extent : tensor.shape) bytes *= static_cast<std::size_t>(extent);
      if (bytes != tensor.bytes.size()) std::abort();
      for (const std::byte value : tensor.bytes) sum += static_cast<std::size_t>(value);
    }
    if (sum > 255 * size) std::abort();
  } catch (const regroup::UserError&) {
    return 0;
  }
  return 0;
}
