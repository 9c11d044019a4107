#include "regroup/nn/graph.h"

#include <gtest/gtest.h>

#include <set>

#include "nn/nn_testing.h"
#include "regroup/nn/network.h"
#include "regroup/nn/weights.h"

namespace regroup {
namespace {

TEST(Graph, KnowsTheShapesThatEveryNetworkComputes) {
  const at::NoGradGuard no_grad;
  for (const NetworkInfo& info : networks()) {
    for (const auto& [height, width] : {std::pair{64, 64}, {33, 47}}) {
      SCOPED_TRACE(fmt::format("{} {}x{}", info.name, height, width));
      const bool is_vector = info.takes_vectors();
      const NetworkShape shape{is_vector ? 20 : 3, is_vector ? 1 : height, is_vector ? 1 : width, 7, 8, is_vector};
      const auto network = make_network(info.name, shape, 1);
      network->training = false;
      Graph graph(is_vector ? SampleExtent{20} : SampleExtent{3, height, width});
      const ScoresOf<Symbol> described = network->describe(graph.input());
      const Scores computed = network->forward(normal_tensor({2, shape.channels, shape.height, shape.width}, 1));
      EXPECT_EQ(described.features.extent().channels, computed.features.size(1));
      EXPECT_EQ(described.logits.extent().channels, 7);
      EXPECT_FALSE(described.logits.extent().is_image());
    }
  }
}

TEST(Graph, HasEveryTensorOfANetworkUnderItsName) {
  for (const NetworkInfo& info : networks()) {
    SCOPED_TRACE(info.name);
    const bool is_vector = info.takes_vectors();
    const auto network =
        make_network(info.name, {is_vector ? 20 : 3, is_vector ? 1 : 64, is_vector ? 1 : 64, 7, 8, is_vector}, 1);
    Graph graph(is_vector ? SampleExtent{20} : SampleExtent{3, 64, 64});
    graph.name(*network, "a.");
    network->describe(graph.input());
    std::set<std::string> used;
    for (const Graph::Node& node : graph.nodes())
      for (const at::Tensor& tensor : tensors_of(node.operation)) used.insert(graph.name_of(tensor));
    for (const NamedTensor& tensor : tensors_of(*network)) {
      if (tensor.name.ends_with("num_batches_tracked")) continue;
      EXPECT_TRUE(used.contains("a." + tensor.name)) << tensor.name;
    }
  }
}

}  // namespace
}  // namespace regroup
