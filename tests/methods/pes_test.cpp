#include <gtest/gtest.h>

#include "regroup/methods/refinement.h"

namespace regroup {
namespace {

TEST(Pes, TheLastPartsOfEveryNetworkAreABlockAndTheClassifier) {
  for (const NetworkInfo& info : networks()) {
    if (info.takes_vectors()) continue;
    const auto parts = parts_of(*make_network(info.name, {3, 32, 32, 10, 8}, 1));
    ASSERT_GE(parts.size(), 4U) << info.name;
    const bool lite = info.name == "efficientnet-lite0";
    using Names = std::vector<std::string>;
    EXPECT_EQ(parts.back(), Names{lite ? "classifier" : "fc"}) << info.name;
    EXPECT_EQ(parts[parts.size() - 2], lite                  ? (Names{"conv_head", "bn2"})
                                       : info.name == "fast" ? Names{"block3"}
                                                             : Names{"layer4"})
        << info.name;
  }
}

}  // namespace
}  // namespace regroup
