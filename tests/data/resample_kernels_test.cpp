#include "regroup/data/resample_kernels.h"

#include <gtest/gtest.h>

#include <vector>

#include "data/made_images.h"
#include "regroup/core/simd.h"

namespace regroup {
namespace {

struct Kernels {
  decltype(&baseline::sum_rows) sum_rows;
  decltype(&baseline::sum_columns) sum_columns;
};

std::vector<Kernels> all_kernels() {
  std::vector<Kernels> kernels = {{baseline::sum_rows, baseline::sum_columns}};
#if defined(__x86_64__)
  if (cpu_has_avx2()) kernels.push_back({avx2::sum_rows, avx2::sum_columns});
#endif
  return kernels;
}

/// Weights that sum to 1.
std::vector<std::int16_t> random_weights(std::size_t taps, Stream& random) {
  std::vector<std::int16_t> weights(taps);
  int left = 1 << weight_bits;
  for (auto& weight : weights) {
    weight = static_cast<std::int16_t>(random.below(static_cast<std::uint32_t>(left + 1)));
    left -= weight;
  }
  weights.back() = static_cast<std::int16_t>(weights.back() + left);
  return weights;
}

TEST(ResampleKernels, SumRowsOfAnyLength) {
  Stream random(1, Purpose::synthetic);
  for (const std::size_t taps : {2U, 4U, 6U, 14U}) {
    const auto weights = random_weights(taps, random);
    for (std::size_t count = 1; count <= 100; ++count) {
      std::vector<std::vector<std::uint8_t>> rows(taps, std::vector<std::uint8_t>(count));
      std::vector<const std::uint8_t*> pointers;
      for (auto& row : rows) {
        for (auto& value : row) value = random.below(4) == 0 ? 255 : static_cast<std::uint8_t>(random.below(256));
        pointers.push_back(row.data());
      }
      std::vector<std::int16_t> expected(count);
      for (std::size_t i = 0; i < count; ++i) {
        int sum = 0;
        for (std::size_t tap = 0; tap < taps; ++tap) sum += rows[tap][i] * weights[tap];
        expected[i] = static_cast<std::int16_t>((sum + 64) / 128);
      }
      for (const auto& kernels : all_kernels()) {
        std::vector<std::int16_t> sums(count + 1, -7);
        kernels.sum_rows(pointers.data(), weights.data(), taps, count, sums.data());
        ASSERT_EQ(sums.back(), -7);
        sums.pop_back();
        ASSERT_EQ(sums, expected) << taps << " " << count;
      }
    }
  }
}

TEST(ResampleKernels, SumColumnsOfAnyNumber) {
  Stream random(2, Purpose::synthetic);
  constexpr std::size_t width = 40;
  for (const std::size_t taps : {2U, 4U, 6U, 14U}) {
    std::vector<std::int16_t> sums(3 * width + sums_read_over);
    for (auto& sum : sums) sum = static_cast<std::int16_t>(random.below(4) == 0 ? 255 * 128 : random.below(255 * 128));
    for (std::size_t pixels = 1; pixels <= 20; ++pixels) {
      std::vector<std::int32_t> first;
      std::vector<std::int16_t> weights;
      std::vector<std::uint8_t> expected;
      for (std::size_t i = 0; i < pixels; ++i) {
        first.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(width - taps + 1))));
        const auto own = random_weights(taps, random);
        weights.insert(weights.end(), own.begin(), own.end());
        for (std::size_t c = 0; c < 3; ++c) {
          int sum = 0;
          for (std::size_t tap = 0; tap < taps; ++tap)
            sum += sums[3 * (static_cast<std::size_t>(first.back()) + tap) + c] * own[tap];
          expected.push_back(static_cast<std::uint8_t>((sum + (1 << 20)) / (1 << 21)));
        }
      }
      for (const auto& kernels : all_kernels()) {
        std::vector<std::uint8_t> out(3 * pixels + 1, 99);
        kernels.sum_columns(sums.data(), first.data(), weights.data(), taps, pixels, out.data());
        ASSERT_EQ(out.back(), 99);
        out.pop_back();
        ASSERT_EQ(out, expected) << taps << " " << pixels;
      }
    }
  }
}

}  // namespace
}  // namespace regroup
