#include "regroup/methods/pes.h"

#include <gtest/gtest.h>

namespace regroup {
namespace {

TEST(Pes, TheLastPartsOfEveryNetworkAreABlockAndTheClassifier) {
  for (const NetworkInfo& info : networks()) {
    const auto parts = parts_of(*make_network(info.name, {3, 32, 32, 10, 8}, 1));
    ASSERT_GE(parts.size(), 4U) << info.name;
    EXPECT_EQ(parts.back(), "fc") << info.name;
    EXPECT_TRUE(parts[parts.size() - 2].starts_with(info.name == "fast" ? "block3" : "layer4")) << info.name;
  }
}

}  // namespace
}  // namespace regroup
