// Any bytes are a NumPy array whose shape and bytes agree, or a UserError: nothing else is thrown, read or written.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "regroup/core/error.h"
#include "regroup/io/npy.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto source = regroup::memory_bytes(std::span(data, size));
    const auto array = regroup::read_npy(*source, "fuzz");
    std::size_t count = 1;
    for (const std::size_t extent : array.shape) count *= extent;
    if (count * static_cast<std::size_t>(array.dtype.back() - '0') != array.bytes.size()) std::abort();
    if (regroup::integers(array, "fuzz").size() != count) std::abort();
  } catch (const regroup::UserError&) {
    return 0;
  }
  return 0;
}
