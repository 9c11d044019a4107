#include "regroup/audit/dot_kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "regroup/core/random.h"
#include "regroup/core/simd.h"

namespace regroup {
namespace {

float slow_dot(const std::vector<float>& left, const std::vector<float>& right) {
  std::array<float, 16> parts{};
  for (std::size_t i = 0; i < left.size(); ++i) parts[i % parts.size()] += left[i] * right[i];
  float sum = 0;
  for (const float part : parts) sum += part;
  return sum;
}

TEST(DotKernels, GiveTheSameBitsOnAllProcessors) {
  Stream random(1, Purpose::synthetic);
  for (std::size_t size = 0; size < 70; ++size) {
    std::vector<float> left, right;
    for (std::size_t i = 0; i < size; ++i) {
      left.push_back(static_cast<float>(random.normal()));
      right.push_back(static_cast<float>(random.normal()));
    }
    EXPECT_EQ(baseline::dot(left.data(), right.data(), size), slow_dot(left, right)) << size;
    EXPECT_EQ(REGROUP_BEST_KERNEL(dot)(left.data(), right.data(), size), slow_dot(left, right)) << size;
  }
}

}  // namespace
}  // namespace regroup
