#include "regroup/core/random.h"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "regroup/core/philox.h"
#include "regroup/core/simd.h"

namespace regroup {
namespace {

std::vector<std::uint32_t> library_words(PhiloxCounter counter, std::uint64_t key, std::size_t batches) {
  std::vector<std::uint32_t> words(32 * batches);
  const r123::Philox4x32::key_type library_key{
      {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)}};
  for (std::size_t batch = 0; batch < batches; ++batch) {
    for (std::uint32_t lane = 0; lane < 8; ++lane) {
      const auto block = static_cast<std::uint32_t>(counter.block + 8 * batch + lane);
      const auto result =
          r123::Philox4x32_R<7>()({{block, counter.index, counter.epoch, counter.purpose}}, library_key);
      for (std::size_t word = 0; word < 4; ++word) words[32 * batch + 8 * word + lane] = result[word];
    }
  }
  return words;
}

TEST(Philox, KernelsGiveTheBitsOfRandom123) {
  const PhiloxCounter counter{0xfffffff0U, 7, 0x80000001U, 3};
  const std::uint64_t key = 0x0123456789abcdefULL;
  const auto expected = library_words(counter, key, 5);
  std::vector<std::uint32_t> words(expected.size());
  baseline::philox_batches(counter, key, 5, words.data());
  EXPECT_EQ(words, expected);
#if defined(__x86_64__)
  if (cpu_has_avx2()) {
    words.assign(words.size(), 0);
    avx2::philox_batches(counter, key, 5, words.data());
    EXPECT_EQ(words, expected);
  }
  if (cpu_has_avx512_bf16()) {
    words.assign(words.size(), 0);
    avx512::philox_batches(counter, key, 5, words.data());
    EXPECT_EQ(words, expected);
  }
#endif
}

TEST(Stream, IsAFunctionOfItsKey) {
  const auto first_word = [](std::uint64_t seed, Purpose purpose, std::uint32_t epoch, std::uint32_t index) {
    return Stream(seed, purpose, epoch, index).bits64();
  };
  EXPECT_EQ(first_word(1, Purpose::selection, 2, 3), first_word(1, Purpose::selection, 2, 3));
  const std::set<std::uint64_t> different = {
      first_word(1, Purpose::selection, 2, 3),   first_word(2, Purpose::selection, 2, 3),
      first_word(1, Purpose::label_noise, 2, 3), first_word(1, Purpose::selection, 3, 3),
      first_word(1, Purpose::selection, 2, 4),   first_word(1ULL << 32, Purpose::selection, 2, 3)};
  EXPECT_EQ(different.size(), 6U);
}

TEST(Stream, FillGoesOnWhereTheSingleNumbersStopped) {
  Stream one(5, Purpose::selection);
  std::vector<std::uint32_t> singles(96);
  for (auto& word : singles) word = one();
  Stream other(5, Purpose::selection);
  other();
  std::vector<std::uint32_t> filled(64);
  other.fill(std::span(filled).first(40));  // two batches; the rest of the first batch is dropped
  EXPECT_TRUE(std::equal(filled.begin(), filled.end(), singles.begin() + 32));
}

// The statistics below are at fixed seeds, so they cannot flicker; each bound would be crossed by chance once in more
// than ten thousand seeds.
TEST(Stream, BelowIsUniform) {
  Stream stream(11, Purpose::synthetic);
  std::vector<int> counts(7);
  constexpr int draws = 70'000;
  for (int i = 0; i < draws; ++i) ++counts[stream.below(7)];
  double chi_square = 0;
  for (const int count : counts) chi_square += std::pow(count - draws / 7.0, 2) / (draws / 7.0);
  EXPECT_LT(chi_square, 27.9);  // 6 degrees of freedom, 1e-4
  EXPECT_EQ(stream.below(1), 0U);
  // 3 * 2^30 does not divide 2^32: without the rejection the lower third would get half of the draws.
  int low = 0;
  for (int i = 0; i < draws; ++i) low += stream.below(3U << 30) < (1U << 30);
  EXPECT_NEAR(low, draws / 3.0, 4 * std::sqrt(draws * 2.0 / 9.0));
}

TEST(Stream, UniformAndNormalHaveTheirMoments) {
  Stream stream(12, Purpose::synthetic);
  constexpr int draws = 200'000;
  double sum = 0, normal_sum = 0, normal_squares = 0, normal_fourth = 0;
  for (int i = 0; i < draws; ++i) {
    const double u = stream.uniform();
    ASSERT_TRUE(u >= 0 && u < 1);
    sum += u;
    const double z = stream.normal();
    normal_sum += z;
    normal_squares += z * z;
    normal_fourth += z * z * z * z;
  }
  const double root = std::sqrt(draws);
  EXPECT_NEAR(sum / draws, 0.5, 4 * std::sqrt(1.0 / 12) / root);
  EXPECT_NEAR(normal_sum / draws, 0, 4 / root);
  EXPECT_NEAR(normal_squares / draws, 1, 4 * std::sqrt(2.0) / root);
  EXPECT_NEAR(normal_fourth / draws, 3, 4 * std::sqrt(96.0) / root);
}

}  // namespace
}  // namespace regroup
