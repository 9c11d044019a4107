#include "regroup/data/vectors.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "regroup/core/random.h"
#include "regroup/core/simd.h"
#include "regroup/data/vector_kernels.h"
#include "support/vector_files.h"

namespace regroup {
namespace {

/// By the definition: a sign, 5 bits of exponent and 10 of fraction.
float slow_half(std::uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const double sign = half & 0x8000 ? -1 : 1;
  if (exponent == 31)
    return fraction == 0 ? static_cast<float>(sign * std::numeric_limits<double>::infinity())
                         : std::numeric_limits<float>::quiet_NaN();
  return static_cast<float>(sign *
                            (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25)));
}

bool same(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

SampleView view(const auto& numbers, NumberType type) {
  return {{reinterpret_cast<const std::uint8_t*>(numbers.data()), numbers.size() * bytes_of(type)}, 1, 1, type};
}

TEST(VectorKernels, EveryHalfIsTheNumberThatItStandsFor) {
  std::vector<std::uint16_t> halves(1U << 16);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  std::vector<float> numbers(halves.size());
  read_numbers(view(halves, NumberType::float16), numbers);
  for (std::size_t i = 0; i < halves.size(); ++i) ASSERT_TRUE(same(numbers[i], slow_half(halves[i]))) << i;
  read_numbers(view(halves, NumberType::bfloat16), numbers);
  for (std::size_t i = 0; i < halves.size(); ++i)
    ASSERT_TRUE(same(numbers[i], std::bit_cast<float>(static_cast<std::uint32_t>(i) << 16))) << i;
}

/// The nearest number whose lower half is zero; the even one of two.
std::uint16_t slow_rounded(float value) {
  const auto below = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
  const auto above = static_cast<std::uint16_t>(below + 1);
  const auto distance = [&](std::uint16_t half) {
    return std::abs(double{std::bit_cast<float>(std::uint32_t{half} << 16)} - double{value});
  };
  if (distance(below) == distance(above)) return below % 2 == 0 ? below : above;
  return distance(below) < distance(above) ? below : above;
}

TEST(VectorKernels, RoundWhatTheyScaleAndShift) {
  using Kernels = std::pair<decltype(&baseline::standardise_float32), decltype(&baseline::round_float32)>;
  std::vector<Kernels> all{{baseline::standardise_float32, baseline::round_float32},
                           {baseline::standardise_float16, baseline::round_float16},
                           {baseline::standardise_bfloat16, baseline::round_bfloat16}};
#if defined(__x86_64__)
  if (cpu_has_avx2()) {
    all.emplace_back(avx2::standardise_float32, avx2::round_float32);
    all.emplace_back(avx2::standardise_float16, avx2::round_float16);
    all.emplace_back(avx2::standardise_bfloat16, avx2::round_bfloat16);
  }
#endif
  Stream stream(1, Purpose::synthetic);
  for (std::size_t count = 1; count < 40; ++count) {
    std::vector<float> scale, offset;
    std::vector<std::byte> in;
    for (std::size_t i = 0; i < count; ++i) {
      // As floats and as halves they are finite.
      for (int byte = 0; byte < 4; ++byte) in.push_back(static_cast<std::byte>(stream.below(0x3c)));
      scale.push_back(static_cast<float>(stream.normal()));
      offset.push_back(i % 5 == 0 ? 0x1.01p0F : static_cast<float>(stream.normal()));
      if (i % 5 == 0) scale.back() = 0;  // half way between two
    }
    for (const auto& [exact, rounded] : all) {
      std::vector<float> numbers(count);
      std::vector<std::uint16_t> found(count + 1, 7);
      exact(in.data(), count, scale.data(), offset.data(), numbers.data());
      rounded(in.data(), count, scale.data(), offset.data(), found.data());
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(found[i], slow_rounded(numbers[i])) << numbers[i];
      EXPECT_EQ(found[count], 7);
    }
  }
}

TEST(VectorKernels, ScaleAndShiftAnyNumberOfNumbersWhereverTheyLie) {
  using Kernel = decltype(&baseline::standardise_float32);
  std::vector<std::array<Kernel, 3>> all{
      {baseline::standardise_float32, baseline::standardise_float16, baseline::standardise_bfloat16}};
#if defined(__x86_64__)
  if (cpu_has_avx2()) all.push_back({avx2::standardise_float32, avx2::standardise_float16, avx2::standardise_bfloat16});
#endif
  Stream stream(1, Purpose::synthetic);
  for (std::size_t count = 1; count < 40; ++count) {
    std::vector<float> numbers, scale, offset;
    std::vector<std::uint16_t> halves;
    for (std::size_t i = 0; i < count; ++i) {
      numbers.push_back(static_cast<float>(stream.normal()));
      halves.push_back(static_cast<std::uint16_t>(stream.below(0x7c00)));
      scale.push_back(static_cast<float>(stream.normal()));
      offset.push_back(static_cast<float>(stream.normal()));
    }
    std::vector<std::byte> moved(count * 4 + 1);
    for (const auto& kernels : all) {
      for (std::size_t kind = 0; kind < 3; ++kind) {
        const auto* const bytes = kind == 0 ? reinterpret_cast<const std::byte*>(numbers.data())
                                            : reinterpret_cast<const std::byte*>(halves.data());
        std::memcpy(&moved[1], bytes, count * (kind == 0 ? 4 : 2));
        std::vector<float> out(count + 1, 7.0F);
        kernels[kind](&moved[1], count, scale.data(), offset.data(), out.data());
        for (std::size_t i = 0; i < count; ++i) {
          const float number = kind == 0   ? numbers[i]
                               : kind == 1 ? slow_half(halves[i])
                                           : std::bit_cast<float>(std::uint32_t{halves[i]} << 16);
          ASSERT_TRUE(same(out[i], number * scale[i] + offset[i])) << count << " " << kind << " " << i;
        }
        EXPECT_EQ(out[count], 7.0F);
      }
    }
  }
}

TEST(VectorFile, WritesViewsThatAreNormalised) {
  const TemporaryFolder folder;
  const VectorFile file(folder.write("x.npy", npy_table(2, 3, {1, 2, 3, 4, 5, 6})), 1e9, 1, nullptr);
  EXPECT_EQ(file.shape(), SampleShape::vector(3));
  EXPECT_EQ(file.size(), 2U);
  EXPECT_EQ(file.window(), 0U);
  const Augmenter augmenter(file, {{1, 1, 1}, {1, 2, 4}}, PixelType::float32, 1);
  ASSERT_EQ(augmenter.output_bytes(), 12U);
  std::vector<float> one(3), other(3);
  const std::vector<std::byte*> out{reinterpret_cast<std::byte*>(one.data()),
                                    reinterpret_cast<std::byte*>(other.data())};
  Augmenter::Scratch scratch;
  EXPECT_TRUE(augmenter.write(1, 0, std::vector<Augmentation>(2), out, scratch));
  EXPECT_EQ(one, (std::vector<float>{3, 2, 1.25F}));
  EXPECT_EQ(other, one) << "vectors have no views that differ";
  const Augmenter rounding(file, {{1, 1, 1}, {1, 2, 4}}, PixelType::bfloat16, 1);
  ASSERT_EQ(rounding.output_bytes(), 6U);
  std::vector<std::uint16_t> halves(3);
  EXPECT_TRUE(rounding.write(1, 0, std::vector<Augmentation>(1),
                             std::vector{reinterpret_cast<std::byte*>(halves.data())}, scratch));
  EXPECT_EQ(halves, (std::vector<std::uint16_t>{0x4040, 0x4000, 0x3fa0}));
}

TEST(VectorFile, NamesTheFirstRowThatIsNotFinite) {
  const TemporaryFolder folder;
  std::vector<float> values(4000);
  values[1999] = std::numeric_limits<float>::infinity();
  values[3000] = std::numeric_limits<float>::quiet_NaN();
  const auto file = folder.write("x.npy", npy_table(1000, 4, values));
  EXPECT_TRUE(has(user_error([&] { VectorFile(file, 1e9, 2, nullptr); }), "x.npy: row 499 has a value"));
}

TEST(VectorFile, MayBeMoreThanTheMemoryThatItMayTake) {
  const TemporaryFolder folder;
  std::vector<float> values;
  Stream stream(1, Purpose::synthetic);
  for (int i = 0; i < 5000 * 8; ++i) values.push_back(static_cast<float>(stream.normal()));
  const auto path = folder.write("x.npy", npy_table(5000, 8, values));
  const VectorFile little(path, 1024 * 32 * 2, 2, nullptr), all(path, 1e9, 2, nullptr);
  EXPECT_EQ(little.window(), 1024U);
  SampleScratch scratch;
  std::vector<float> some(8);
  for (std::uint32_t i = 0; i < 5000; ++i) {
    read_numbers(little.read(i * 7 % 5000, scratch), some);
    for (std::size_t d = 0; d < 8; ++d) ASSERT_EQ(some[d], values[i * 7 % 5000 * 8 + d]);
  }
  EXPECT_EQ(little.digest(), all.digest());
}

TEST(VectorFile, HasADigestThatSeesAChange) {
  const TemporaryFolder folder;
  std::vector<float> values(600);
  const auto digest = [&](std::size_t rows, std::size_t columns) {
    return VectorFile(folder.write("x.npy", npy_table(rows, columns, values)), 1e9, 1, nullptr).digest();
  };
  const std::uint64_t before = digest(100, 6);
  EXPECT_EQ(digest(100, 6), before);
  EXPECT_NE(digest(200, 3), before);
  values[599] = 1;
  EXPECT_NE(digest(100, 6), before);
}

TEST(MeasureVectors, IsTheMeanAndDeviationOfEachNumberOnAnyNumberOfThreads) {
  std::vector<float> values;
  Stream stream(2, Purpose::synthetic);
  constexpr std::size_t count = 1000;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(5 + 2 * stream.normal()));
    values.push_back(3);
    values.push_back(static_cast<float>(1e6 + stream.uniform()));
  }
  const VectorsInMemory vectors(3, values);
  const Normalisation one = measure_vectors(vectors, 1), three = measure_vectors(vectors, 3);
  EXPECT_EQ(one.mean, three.mean);
  EXPECT_EQ(one.deviation, three.deviation);
  for (std::size_t d = 0; d < 3; ++d) {
    double mean = 0, squares = 0;
    for (std::size_t i = 0; i < count; ++i) mean += static_cast<double>(values[i * 3 + d]) / count;
    for (std::size_t i = 0; i < count; ++i)
      squares += std::pow(static_cast<double>(values[i * 3 + d]) - mean, 2) / count;
    EXPECT_NEAR(one.mean[d], mean, 1e-6 * mean);
    if (d != 1) {
      EXPECT_NEAR(one.deviation[d], std::sqrt(squares), 1e-3 * std::sqrt(squares)) << d;
    }
  }
  EXPECT_EQ(one.deviation[1], 1.0F) << "what never varies";
}

}  // namespace
}  // namespace regroup
