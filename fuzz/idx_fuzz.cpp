// Any bytes, plain or gzip, are an IDX array or a UserError: nothing else is thrown, read or written.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "regroup/core/error.h"
#include "regroup/data/idx.h"

namespace {

void read(std::span<const std::uint8_t> bytes, int rank) {
  try {
    const auto source = regroup::unpack_gzip(regroup::memory_bytes(bytes), "fuzz");
    const auto array = regroup::read_idx(*source, "fuzz", rank);
    std::uint64_t count = 1;
    for (const int size : array.shape) count *= static_cast<std::uint64_t>(size);
    if (count != array.values.size()) std::abort();
  } catch (const regroup::UserError&) {
    return;
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read({data, size}, 1);
  read({data, size}, 3);
  return 0;
}
