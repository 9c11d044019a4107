#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "regroup/core/random.h"
#include "regroup/core/simd.h"
#include "regroup/rml/draw_kernels.h"
#include "regroup/rml/groups.h"

namespace regroup {
namespace {

struct Inputs {
  std::vector<std::uint8_t> random, sure, heavy, group_of;
  std::vector<float> values;

  explicit Inputs(std::size_t count) {
    Stream stream(1, Purpose::synthetic);
    for (auto* bytes : {&random, &sure, &heavy, &group_of}) {
      bytes->resize(count);
      for (auto& byte : *bytes) byte = static_cast<std::uint8_t>(stream.below(256));
    }
    for (std::size_t i = 0; i < count; ++i) {
      heavy[i] = heavy[i] < 128 ? 0 : 255;
      group_of[i] = stream.below(2) != 0 ? group_of[i] % 6 : no_group;
    }
    values.resize(count);
    for (auto& value : values) value = static_cast<float>(10 * stream.uniform());
  }
};

#if defined(__x86_64__)
#define REGROUP_FOR_EACH_KERNEL(check, name) \
  check(baseline::name);                     \
  if (cpu_has_avx2()) check(avx2::name);     \
  if (cpu_has_avx512_bf16()) check(avx512::name)
#else
#define REGROUP_FOR_EACH_KERNEL(check, name) check(baseline::name)
#endif

TEST(DrawKernels, BytesDecideAsTheSlowLoopDoes) {
  const Inputs in(1024);
  const auto check = [&](auto kernel) {
    std::vector<std::uint32_t> arrived(1024 / 32), look(1024 / 32);
    const std::uint32_t count =
        kernel(in.random.data(), in.sure.data(), in.heavy.data(), 1024, arrived.data(), look.data());
    std::uint32_t slow_count = 0;
    for (std::size_t i = 0; i < 1024; ++i) {
      const bool before = in.random[i] < in.sure[i], tied = in.random[i] == in.sure[i];
      EXPECT_EQ(arrived[i / 32] >> i % 32 & 1, before);
      EXPECT_EQ(look[i / 32] >> i % 32 & 1, tied || (in.heavy[i] != 0 && !before));
      slow_count += before;
    }
    EXPECT_EQ(count, slow_count);
  };
  REGROUP_FOR_EACH_KERNEL(check, race_bytes);
}

TEST(DrawKernels, CompactKeepsWhatIsSetInOrder) {
  const Inputs in(1024);
  std::vector<std::uint32_t> mask(1024 / 32);
  std::vector<float> expected;
  for (std::size_t i = 0; i < 1024; ++i) {
    // The first blocks are empty and full.
    const bool set = i < 64 ? i >= 32 : in.random[i] < in.sure[i];
    mask[i / 32] |= static_cast<std::uint32_t>(set) << i % 32;
    if (set) expected.push_back(in.values[i]);
  }
  const auto check = [&](auto kernel) {
    std::vector<float> out(expected.size() + 9, -1);
    kernel(in.values.data(), mask.data(), 1024, out.data());
    EXPECT_EQ(out.back(), -1);
    out.resize(expected.size());
    EXPECT_EQ(out, expected);
  };
  REGROUP_FOR_EACH_KERNEL(check, compact);
}

TEST(DrawKernels, EveryByteHasItsGroup) {
  std::vector<std::uint8_t> bytes(256);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  const auto check = [&](auto kernel) {
    for (const int groups : {2, 6, 10, most_groups}) {
      std::vector<std::uint8_t> group_of(256);
      kernel(bytes.data(), groups, 256, group_of.data());
      for (int byte = 0; byte < 256; ++byte) EXPECT_EQ(group_of[static_cast<std::size_t>(byte)], byte * groups / 256);
    }
  };
  REGROUP_FOR_EACH_KERNEL(check, byte_groups);
}

TEST(DrawKernels, SizesCountEveryGroup) {
  // More than 255 times 32, where the byte counters are emptied in between.
  const Inputs in(32 * 600);
  const auto check = [&](auto kernel) {
    std::vector<std::uint32_t> sizes(6);
    kernel(in.group_of.data(), in.group_of.size(), 6, sizes.data());
    for (std::uint8_t group = 0; group < 6; ++group)
      EXPECT_EQ(sizes[group], std::count(in.group_of.begin(), in.group_of.end(), group));
  };
  REGROUP_FOR_EACH_KERNEL(check, group_sizes);
}

TEST(DrawKernels, SumsAreThoseOfTheSlowLoopAndTheSameBitsEverywhere) {
  const Inputs in(32 * 100);
  std::vector<std::vector<double>> all;
  const auto check = [&](auto kernel) {
    std::vector<double> sums(6, -1);
    kernel(in.group_of.data(), in.values.data(), in.values.size(), 6, sums.data());
    for (std::size_t group = 0; group < 6; ++group) {
      double slow = 0;
      for (std::size_t i = 0; i < in.values.size(); ++i)
        if (in.group_of[i] == group) slow += static_cast<double>(in.values[i]);
      EXPECT_NEAR(sums[group], slow, 1e-6 * slow);
    }
    all.push_back(sums);
  };
  REGROUP_FOR_EACH_KERNEL(check, group_sums);
  for (const auto& sums : all) EXPECT_EQ(sums, all.front());
}

}  // namespace
}  // namespace regroup
