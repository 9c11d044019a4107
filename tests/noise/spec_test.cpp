#include "regroup/noise/spec.h"

#include <gtest/gtest.h>

#include "noise_testing.h"

namespace regroup {
namespace {

TEST(NoiseSpec, ParsesEveryKind) {
  EXPECT_EQ(parse_noise("none").kind, NoiseKind::none);
  EXPECT_EQ(parse_noise("symmetric:0.2").kind, NoiseKind::symmetric);
  EXPECT_EQ(parse_noise("symmetric-all:0.2").kind, NoiseKind::symmetric_all);
  EXPECT_EQ(parse_noise("pairflip:0.45").kind, NoiseKind::pairflip);
  EXPECT_EQ(parse_noise("instance:.4").kind, NoiseKind::instance);
  EXPECT_EQ(parse_noise("pairflip:0.45").rate, 0.45);
  EXPECT_EQ(parse_noise("symmetric:0").rate, 0);
  EXPECT_EQ(parse_noise("symmetric:1").rate, 1);
  const auto matrix = parse_noise("matrix:a:b/t.csv");
  EXPECT_EQ(matrix.kind, NoiseKind::matrix);
  EXPECT_EQ(matrix.file, "a:b/t.csv");
}

TEST(NoiseSpec, AnUnknownKindListsTheKnownOnes) {
  const auto unknown = [](const std::string& name) {
    return "unknown noise '" + name + "'; known: none, symmetric, symmetric-all, pairflip, instance, matrix";
  };
  for (const std::string name : {"pairflop", "sym", "", "Symmetric", " none"}) {
    EXPECT_EQ(user_error([&] { parse_noise(name); }), unknown(name));
  }
  EXPECT_EQ(user_error([] { parse_noise("pairflop:0.4"); }), unknown("pairflop"));
}

TEST(NoiseSpec, ARateIsANumberFromZeroToOne) {
  for (const std::string rate : {"1.01", "-0.1", "nan", "inf", "much", "0.4x", "0,4", "+0.4", " 0.4", "40%"}) {
    EXPECT_EQ(user_error([&] { parse_noise("symmetric:" + rate); }),
              "noise rate '" + rate + "' is not a number from 0 to 1; write for example symmetric:0.4");
  }
}

TEST(NoiseSpec, AnArgumentTooManyOrTooFewIsAnError) {
  EXPECT_EQ(user_error([] { parse_noise("pairflip"); }), "noise 'pairflip' has to be written as pairflip:RATE");
  EXPECT_EQ(user_error([] { parse_noise("pairflip:"); }), "noise 'pairflip:' has to be written as pairflip:RATE");
  EXPECT_EQ(user_error([] { parse_noise("matrix:"); }), "noise 'matrix:' has to be written as matrix:FILE");
  EXPECT_EQ(user_error([] { parse_noise("none:0"); }), "noise 'none:0' has to be written as none");
}

TEST(NoiseSpec, EveryKindHasADescription) {
  for (const auto& kind : noise_kinds()) {
    EXPECT_FALSE(kind.description.empty()) << kind.name;
    EXPECT_EQ(kind.usage().find(kind.name), 0U);
  }
}

}  // namespace
}  // namespace regroup
