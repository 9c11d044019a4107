#include "regroup/audit/none_of_these.h"

#include <gtest/gtest.h>

namespace regroup {
namespace {

TEST(NoneOfThese, AreVagueShortAndBadlyExplained) {
  // Sure and right; sure that another class is the true one; vague with a label that fits; vague with one that does
  // not.
  std::vector<Belief> beliefs(100, Belief{0.99F, 0, 1, 0.01F, 0.9F, 0.1F});
  std::vector<float> lengths(beliefs.size(), 10.0F);
  beliefs[1] = {0.01F, 1, 1, 0.99F, 0.02F, 0.1F};
  beliefs[2] = {0.9F, 0, 1, 0.05F, 0.5F, 2};
  beliefs[3] = {0.1F, 1, 1, 0.4F, 0.02F, 2};
  lengths[3] = 2;
  const std::vector<float> none = none_of_these(beliefs, lengths);
  EXPECT_GT(none[3], 0.5F);
  for (const std::size_t i : {0, 1, 2}) EXPECT_LT(none[i], none[3]);
  EXPECT_LT(none[0], 0.01F);
  EXPECT_GT(none_of_these(beliefs, {})[3], none_of_these(beliefs, {})[1]) << "also without features";
}

TEST(NoneOfThese, NothingComesOfNothing) {
  EXPECT_TRUE(none_of_these({}, {}).empty());
  EXPECT_LT(none_of_these(std::vector<Belief>(3), std::vector<float>(3, 1))[0], 0.5F);
}

}  // namespace
}  // namespace regroup
