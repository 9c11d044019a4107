// Any bytes as a safetensors file.
#include "safetensors_check.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_safetensors(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
