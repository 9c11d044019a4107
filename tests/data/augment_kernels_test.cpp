#include "regroup/data/augment_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "data/made_images.h"
#include "regroup/core/simd.h"

namespace regroup {
namespace {

// Both forms of the kernels.

struct Kernels {
  decltype(&baseline::normalise_float) to_float;
  decltype(&baseline::normalise_bfloat) to_bfloat;
  decltype(&baseline::mirror) mirror;
};

std::vector<Kernels> all_kernels() {
  std::vector<Kernels> kernels = {{baseline::normalise_float, baseline::normalise_bfloat, baseline::mirror}};
#if defined(__x86_64__)
  if (cpu_has_avx2()) kernels.push_back({avx2::normalise_float, avx2::normalise_bfloat, avx2::mirror});
#endif
  return kernels;
}

TEST(AugmentKernels, NormaliseFromTheEndOfTheirOwnRoom) {
  std::vector<float> scale, offset;
  for (std::size_t i = 0; i < channel_period; ++i) {
    scale.push_back(0.01F + 0.001F * static_cast<float>(i % 3));
    offset.push_back(-1.5F + 0.25F * static_cast<float>(i % 4));
  }
  const auto bytes = random_bytes(100);
  for (const auto& kernels : all_kernels())
    for (std::size_t count = 1; count <= 100; ++count) {
      std::vector<float> expected(count), values(count);
      std::vector<std::uint16_t> expected_halves(count), halves(count);
      for (std::size_t i = 0; i < count; ++i) {
        expected[i] = static_cast<float>(bytes[i]) * scale[i % channel_period] + offset[i % channel_period];
        expected_halves[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(slow_bfloat(expected[i])) >> 16);
      }
      std::vector<std::uint8_t> room(4 * count + 1);
      std::copy_n(bytes.begin(), count, room.begin() + static_cast<std::ptrdiff_t>(3 * count));
      kernels.to_float(room.data() + 3 * count, count, scale.data(), offset.data(),
                       reinterpret_cast<std::byte*>(room.data()));
      std::memcpy(values.data(), room.data(), 4 * count);
      EXPECT_EQ(values, expected);
      std::copy_n(bytes.begin(), count, room.begin() + static_cast<std::ptrdiff_t>(count));
      kernels.to_bfloat(room.data() + count, count, scale.data(), offset.data(),
                        reinterpret_cast<std::byte*>(room.data()));
      std::memcpy(halves.data(), room.data(), 2 * count);
      EXPECT_EQ(halves, expected_halves);
      EXPECT_EQ(room.back(), 0);
    }
}

TEST(AugmentKernels, RoundTiesToEven) {
  EXPECT_EQ(slow_bfloat(257), 256);
  EXPECT_EQ(slow_bfloat(259), 260);
  EXPECT_EQ(slow_bfloat(-259), -260);
  EXPECT_EQ(slow_bfloat(511), 512);
  std::vector<std::uint8_t> bytes(256 + 7);  // and some for the loop without vectors
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  // 256 .. 511 with 8 significant bits: every odd number is a tie.
  for (const float sign : {1.0F, -1.0F}) {
    const std::vector<float> scale(channel_period, sign), offset(channel_period, 256 * sign);
    for (const auto& kernels : all_kernels()) {
      std::vector<std::uint16_t> halves(bytes.size());
      kernels.to_bfloat(bytes.data(), bytes.size(), scale.data(), offset.data(),
                        reinterpret_cast<std::byte*>(halves.data()));
      for (std::size_t i = 0; i < bytes.size(); ++i)
        EXPECT_EQ(std::bit_cast<float>(static_cast<std::uint32_t>(halves[i]) << 16),
                  slow_bfloat(sign * static_cast<float>(256 + bytes[i])));
    }
  }
}

TEST(AugmentKernels, MirrorPixelsOfAnySize) {
  const auto bytes = random_bytes(200);
  for (const auto& kernels : all_kernels())
    for (int channels = 1; channels <= 4; ++channels)
      for (std::size_t pixels = 1; pixels <= 50; ++pixels) {
        const auto step = static_cast<std::size_t>(channels);
        std::vector<std::uint8_t> mirrored(pixels * step), expected(pixels * step);
        for (std::size_t i = 0; i < pixels; ++i)
          for (std::size_t c = 0; c < step; ++c) expected[i * step + c] = bytes[(pixels - 1 - i) * step + c];
        kernels.mirror(bytes.data(), pixels, channels, mirrored.data());
        EXPECT_EQ(mirrored, expected);
      }
}

}  // namespace
}  // namespace regroup
