#include "regroup/noise/noise.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "noise_testing.h"

namespace regroup {
namespace {

const std::vector<std::string> rated_kinds = {"symmetric:", "symmetric-all:", "pairflip:", "instance:"};

Features some_features() {
  return {16, [](std::size_t index, std::span<float> row) {
            Stream stream(98, Purpose::synthetic, 0, static_cast<std::uint32_t>(index));
            for (float& value : row) value = static_cast<float>(stream.normal());
          }};
}

NoisyLabels make(const std::string& noise, const std::vector<std::int32_t>& labels, int classes, std::uint64_t seed = 7,
                 int threads = 2) {
  return make_noisy(parse_noise(noise), labels, classes, some_features(), seed, threads);
}

/// A matrix in a file that goes away with the test.
class MatrixFile {
 public:
  explicit MatrixFile(const std::string& text) { std::ofstream(path_) << text; }
  MatrixFile(const MatrixFile&) = delete;
  MatrixFile& operator=(const MatrixFile&) = delete;
  ~MatrixFile() { std::filesystem::remove(path_); }

  std::string noise() const { return "matrix:" + path_.string(); }

 private:
  // Tests run at the same time, so each has a file of its own.
  std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("regroup_") + testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv");
};

TEST(Noise, KindsByMatrixDrawFromTheirMatrix) {
  const auto labels = uneven_labels(50'000, 10);
  const auto check = [&](const std::string& noise, const TransitionMatrix& matrix) {
    SCOPED_TRACE(noise);
    expect_drawn_from(matrix, labels, make(noise, labels, 10).labels);
  };
  check("symmetric:0.2", symmetric_transition(10, 0.2));
  check("symmetric:0.8", symmetric_transition(10, 0.8));
  check("symmetric-all:0.2", symmetric_all_transition(10, 0.2));
  check("symmetric-all:1", symmetric_all_transition(10, 1));
  check("pairflip:0.45", pairflip_transition(10, 0.45));
}

TEST(Noise, ReportsNominalAndRealisedRate) {
  const auto labels = uneven_labels(50'000, 10);
  const auto check = [&](const std::string& noise, double nominal, double expected) {
    const auto result = make(noise, labels, 10);
    EXPECT_EQ(result.nominal_rate, nominal) << noise;
    EXPECT_NEAR(result.realised_rate, expected, bound * std::sqrt(expected * (1 - expected) / 50'000)) << noise;
  };
  check("symmetric:0.5", 0.5, 0.5);
  check("symmetric-all:0.5", 0.5, 0.45);
  check("pairflip:0.45", 0.45, 0.45);
  check("instance:0.4", 0.4, 0.4);
  check("none", 0, 0);
}

TEST(Noise, TheRealisedMatrixIsThatOfTheLabels) {
  const std::vector<std::int32_t> labels = {0, 0, 0, 0, 3, 3};
  for (const auto& kind : rated_kinds) {
    const auto result = make(kind + "0.6", labels, 4);
    int wrong = 0;
    TransitionMatrix expected(4);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      expected(labels[i], result.labels[i]) += labels[i] == 0 ? 0.25 : 0.5;
      wrong += result.labels[i] != labels[i];
    }
    for (int from = 0; from < 4; ++from) {
      for (int to = 0; to < 4; ++to) EXPECT_EQ(result.realised(from, to), expected(from, to)) << kind;
    }
    EXPECT_DOUBLE_EQ(result.realised_rate, wrong / 6.0) << kind;
  }
}

TEST(Noise, AMissingClassHasARowOfZeros) {
  const std::vector<std::int32_t> labels = {0, 2, 2, 0};
  for (const auto& kind : rated_kinds) {
    const auto result = make(kind + "0.5", labels, 3);
    for (int to = 0; to < 3; ++to) EXPECT_EQ(result.realised(1, to), 0) << kind;
  }
}

TEST(Noise, RateZeroChangesNothing) {
  const auto labels = uneven_labels(5000, 7);
  for (const auto& kind : rated_kinds) {
    const auto result = make(kind + "0", labels, 7);
    EXPECT_EQ(result.labels, labels) << kind;
    EXPECT_EQ(result.realised_rate, 0) << kind;
  }
  EXPECT_EQ(make("none", labels, 7).labels, labels);
}

TEST(Noise, RateOneFlipsEveryLabelWhereTheKindSaysSo) {
  const auto labels = uneven_labels(5000, 7);
  EXPECT_EQ(make("symmetric:1", labels, 7).realised_rate, 1);
  const auto pairs = make("pairflip:1", labels, 7);
  for (std::size_t i = 0; i < labels.size(); ++i) ASSERT_EQ(pairs.labels[i], (labels[i] + 1) % 7);
}

TEST(Noise, TwoClassesAreEnough) {
  const auto labels = uneven_labels(20'000, 2);
  for (const std::string noise : {"symmetric:0.3", "pairflip:0.3", "instance:0.3"}) {
    EXPECT_NEAR(make(noise, labels, 2).realised_rate, 0.3, bound * std::sqrt(0.3 * 0.7 / 20'000)) << noise;
  }
  const auto flipped = make("symmetric:1", labels, 2);
  for (std::size_t i = 0; i < labels.size(); ++i) ASSERT_EQ(flipped.labels[i], 1 - labels[i]);
}

TEST(Noise, IsAFunctionOfTheSeedAndNotOfTheThreads) {
  const auto labels = uneven_labels(5000, 5);
  for (const auto& kind : rated_kinds) {
    const auto labels_of = [&](std::uint64_t seed, int threads) {
      return make(kind + "0.4", labels, 5, seed, threads).labels;
    };
    const auto once = labels_of(1, 1);
    EXPECT_EQ(labels_of(1, 1), once) << kind;
    EXPECT_EQ(labels_of(1, 2), once) << kind;
    EXPECT_EQ(labels_of(1, 7), once) << kind;
    EXPECT_NE(labels_of(2, 1), once) << kind;
  }
}

TEST(Noise, ALabelDoesNotDependOnTheOtherSamples) {
  const auto labels = uneven_labels(1000, 5);
  auto changed = labels;
  changed[0] = 4 - changed[0];
  changed.resize(700);
  for (const auto& kind : rated_kinds) {
    const auto all = make(kind + "0.4", labels, 5).labels;
    const auto some = make(kind + "0.4", changed, 5).labels;
    EXPECT_TRUE(std::equal(some.begin() + 1, some.end(), all.begin() + 1)) << kind;
  }
}

TEST(Noise, AHigherRateFlipsTheSameLabelsAndMore) {
  const auto labels = uneven_labels(2000, 5);
  for (const std::string kind : {"symmetric:", "symmetric-all:", "pairflip:"}) {
    const auto low = make(kind + "0.2", labels, 5).labels;
    const auto high = make(kind + "0.6", labels, 5).labels;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      ASSERT_TRUE(low[i] == labels[i] || high[i] != labels[i]) << kind;
    }
  }
}

TEST(Noise, AMatrixFromAFileHasTheExpectedRateOfItsClasses) {
  const MatrixFile file("0.9,0.1,0\n0,0.5,0.5\n0.2,0.3,0.5\n");
  TransitionMatrix matrix(3);
  matrix(0, 0) = 0.9;
  matrix(0, 1) = 0.1;
  matrix(1, 1) = matrix(1, 2) = matrix(2, 2) = 0.5;
  matrix(2, 0) = 0.2;
  matrix(2, 1) = 0.3;
  const auto labels = uneven_labels(30'000, 3);  // shares 1/6, 2/6, 3/6
  const auto result = make(file.noise(), labels, 3);
  const double expected = (1 * 0.1 + 2 * 0.5 + 3 * 0.5) / 6;
  EXPECT_NEAR(result.nominal_rate, expected, 1e-12);
  EXPECT_NEAR(result.realised_rate, expected, bound * std::sqrt(expected * (1 - expected) / 30'000));
  expect_drawn_from(matrix, labels, result.labels);
}

TEST(Noise, AMatrixOfNoiseByNameGivesTheSameLabels) {
  const MatrixFile file("0.5,0.5,0\n0,0.5,0.5\n0.5,0,0.5\n");
  const auto labels = uneven_labels(1000, 3);
  EXPECT_EQ(make(file.noise(), labels, 3).labels, make("pairflip:0.5", labels, 3).labels);
}

TEST(Noise, LabelsOutOfRangeAreNamed) {
  const std::string noise = "pairflip:0.4";
  EXPECT_EQ(user_error([&] { make(noise, {0, 1, 3}, 3); }), "sample 2: label 3 is outside 0 .. 2");
  EXPECT_EQ(user_error([&] { make(noise, {0, -1}, 3); }), "sample 1: label -1 is outside 0 .. 2");
  EXPECT_EQ(user_error([&] { make(noise, {}, 3); }), "there are no labels to make noisy");
  EXPECT_EQ(user_error([&] { make(noise, {0}, 1); }), "1 classes; this noise needs 2 to 10000");
  EXPECT_EQ(user_error([&] { make(noise, {0}, 10'001); }), "10001 classes; this noise needs 2 to 10000");
  EXPECT_EQ(make("none", {0, 0}, 1).realised_rate, 0);
}

TEST(Noise, InstanceNoiseWithoutFeaturesIsOurMistake) {
  const std::vector<std::int32_t> labels = {0, 1};
  EXPECT_THROW(make_noisy(parse_noise("instance:0.4"), labels, 2, {}, 1, 1), std::invalid_argument);
}

}  // namespace
}  // namespace regroup
