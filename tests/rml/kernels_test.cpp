#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "regroup/core/random.h"
#include "regroup/core/simd.h"
#include "regroup/rml/groups.h"
#include "regroup/rml/race_kernels.h"

namespace regroup {
namespace {

struct Inputs {
  std::vector<std::uint8_t> random, group_random, sure, heavy, group_of;
  std::vector<float> values;

  explicit Inputs(std::size_t count) {
    Stream stream(1, Purpose::synthetic);
    for (auto* bytes : {&random, &group_random, &sure, &heavy, &group_of}) {
      bytes->resize(count);
      for (auto& byte : *bytes) byte = static_cast<std::uint8_t>(stream.below(256));
    }
    for (std::size_t i = 0; i < count; ++i) {
      heavy[i] = heavy[i] < 128 ? 0 : 255;
      group_of[i] = stream.below(2) != 0 ? group_of_byte(group_of[i], 6) : no_group;
    }
    values.resize(count);
    for (auto& value : values) value = static_cast<float>(10 * stream.uniform());
  }
};

#if defined(__x86_64__)
#define REGROUP_FOR_EACH_KERNEL(check, name) \
  check(baseline::name);                     \
  if (cpu_has_avx2()) check(avx2::name)
#else
#define REGROUP_FOR_EACH_KERNEL(check, name) check(baseline::name)
#endif

TEST(RaceKernels, BytesDecideAsTheSlowLoopDoes) {
  const Inputs in(1024);
  const auto check = [&](auto kernel) {
    std::vector<std::uint8_t> group_of(1024);
    std::vector<std::uint32_t> look(1024 / 32);
    kernel(in.random.data(), in.group_random.data(), in.sure.data(), in.heavy.data(), 6, 1024, group_of.data(),
           look.data());
    for (std::size_t i = 0; i < 1024; ++i) {
      const bool arrived = in.random[i] < in.sure[i];
      const bool tied = in.random[i] == in.sure[i];
      EXPECT_EQ(group_of[i], arrived ? in.group_random[i] * 6 / 256 : no_group);
      EXPECT_EQ(look[i / 32] >> i % 32 & 1, tied || (in.heavy[i] != 0 && !arrived));
    }
  };
  REGROUP_FOR_EACH_KERNEL(check, race_bytes);
}

TEST(RaceKernels, SizesCountEveryGroup) {
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

TEST(RaceKernels, SumsAreThoseOfTheSlowLoopAndTheSameBitsEverywhere) {
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
  EXPECT_EQ(all.front(), all.back());
}

}  // namespace
}  // namespace regroup
