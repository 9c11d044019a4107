// Compiled once for any processor and once with AVX2 (see core/simd.h): no inline function of a header may be used
// here.
#include "regroup/audit/dot_kernels.h"

#include <cstring>

namespace regroup::REGROUP_KERNELS {
namespace {

constexpr std::size_t lanes = 8;
using Floats = float __attribute__((vector_size(4 * lanes)));

inline Floats load(const float* from) {
  Floats floats;
  std::memcpy(&floats, from, sizeof floats);
  return floats;
}

}  // namespace

float dot(const float* left, const float* right, std::size_t size) {
  constexpr std::size_t step = 2 * lanes;
  Floats first{}, second{};
  std::size_t i = 0;
  for (; i + step <= size; i += step) {
    first += load(left + i) * load(right + i);
    second += load(left + i + lanes) * load(right + i + lanes);
  }
  float parts[step];
  std::memcpy(parts, &first, sizeof first);
  std::memcpy(parts + lanes, &second, sizeof second);
  for (; i < size; ++i) parts[i % step] += left[i] * right[i];
  float sum = 0;
  for (const float part : parts) sum += part;
  return sum;
}

}  // namespace regroup::REGROUP_KERNELS
