// Any bytes, plain or gzip, are whole CIFAR records or a UserError.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "regroup/core/error.h"
#include "regroup/data/cifar.h"

namespace {

void read(std::span<const std::uint8_t> bytes, regroup::CifarLabels labels, int classes) {
  regroup::CifarImages images;
  try {
    const auto source = regroup::unpack_gzip(regroup::memory_bytes(bytes), "fuzz");
    regroup::append_cifar(*source, "fuzz", labels, classes, images);
  } catch (const regroup::UserError&) {
    return;
  }
  if (images.pixels.size() != images.labels.size() * regroup::cifar_shape.values()) std::abort();
  for (const auto label : images.labels) {
    if (label < 0 || label >= classes) std::abort();
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read({data, size}, {1, 0}, 10);
  read({data, size}, {2, 1}, 100);
  read({data, size}, {2, 0}, 20);
  return 0;
}
