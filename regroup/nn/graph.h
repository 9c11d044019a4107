#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "regroup/nn/activation.h"
#include "regroup/nn/batch_norm.h"

namespace regroup {

class Graph;
class Network;

/// The shape of one sample somewhere in a network: of an image, or of a vector, which has no height.
struct SampleExtent {
  std::int64_t channels = 0, height = 0, width = 0;

  bool is_image() const { return height > 0; }
};

/// A value in a network that is described instead of computed. A network's forward pass is written once, for tensors
/// and for symbols: the functions below have the names of those for tensors.
class Symbol {
 public:
  Symbol() = default;  ///< none
  Symbol(Graph& graph, std::size_t node) : graph_(&graph), node_(node) {}

  bool defined() const { return graph_ != nullptr; }
  Graph& graph() const { return *graph_; }
  std::size_t node() const { return node_; }
  const SampleExtent& extent() const;

 private:
  Graph* graph_ = nullptr;
  std::size_t node_ = 0;
};

/// What a network in evaluation does to values, one operation each.
namespace operation {
struct Input {};
/// x * factor + offset, a number of each per channel. The factor may be missing.
struct Scale {
  at::Tensor factor, offset;
};
struct Convolve {
  at::Tensor weight;
  std::int64_t stride = 1, groups = 1;
  std::int64_t top = 0, left = 0, bottom = 0, right = 0;  ///< zeros around the image
};
struct Normalise {
  BatchNorm norm;
};
struct Activate {
  Activation activation = Activation::relu;
};
struct MaxPool {
  std::int64_t size = 2, stride = 2, padding = 0;
};
/// Over all pixels of a channel: a vector.
struct GlobalMax {};
struct GlobalMean {};
struct MatrixProduct {
  at::Tensor weight, bias;  ///< x times the transposed weight, plus the bias
};
struct Add {};
struct Divide {
  double by = 1;
};
/// Left and right exchanged.
struct Mirror {};
struct Softmax {};
struct Logarithm {};

using Any = std::variant<Input, Scale, Convolve, Normalise, Activate, MaxPool, GlobalMax, GlobalMean, MatrixProduct,
                         Add, Divide, Mirror, Softmax, Logarithm>;
}  // namespace operation

/// The operations of one or several networks, each after those whose values it takes.
class Graph {
 public:
  struct Node {
    operation::Any operation;
    std::vector<std::size_t> inputs;
    SampleExtent extent;
  };

  /// The first node is the input.
  explicit Graph(SampleExtent input);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Symbol input() { return {*this, 0}; }
  Symbol add(operation::Any operation, std::vector<std::size_t> inputs, SampleExtent extent);
  const std::vector<Node>& nodes() const { return nodes_; }

  /// The tensors of operations have names in files.
  void name(const at::Tensor& tensor, std::string name);
  void name(const Network& network, const std::string& prefix);
  const std::string& name_of(const at::Tensor& tensor) const;

 private:
  std::vector<Node> nodes_;
  std::map<const void*, std::string> names_;
  std::vector<at::Tensor> named_;  ///< keeps them alive: an address is a name as long as nothing else can have it
};

/// The tensors that an operation has.
std::vector<at::Tensor> tensors_of(const operation::Any& operation);

Symbol operator+(const Symbol& x, const Symbol& y);
Symbol operator/(const Symbol& x, double by);
Symbol scale(const Symbol& x, const at::Tensor& factor, const at::Tensor& offset);

/// A number for each channel is added.
at::Tensor add_per_channel(const at::Tensor& x, const at::Tensor& numbers);
Symbol add_per_channel(const Symbol& x, const at::Tensor& numbers);

Symbol batch_norm(const Symbol& x, const BatchNorm& norm, bool training, Activation activation,
                  const Symbol& addend = {});
Symbol relu(const Symbol& x);
Symbol max_pool2d(const Symbol& x, std::int64_t size, std::int64_t stride = 0, std::int64_t padding = 0);
Symbol mirror(const Symbol& x);
Symbol softmax(const Symbol& x);
Symbol log(const Symbol& x);

/// Over all pixels: [samples][channels]. The largest in fp32.
at::Tensor global_mean(const at::Tensor& x);
Symbol global_mean(const Symbol& x);
at::Tensor global_max(const at::Tensor& x);
Symbol global_max(const Symbol& x);

/// Samples as vectors.
at::Tensor as_vectors(const at::Tensor& x);
Symbol as_vectors(const Symbol& x);

}  // namespace regroup
