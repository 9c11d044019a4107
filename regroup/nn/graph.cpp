#include "regroup/nn/graph.h"

#include <ATen/ATen.h>

#include <stdexcept>
#include <utility>

#include "regroup/nn/convolution.h"
#include "regroup/nn/depthwise_convolution.h"
#include "regroup/nn/network.h"
#include "regroup/nn/weights.h"

namespace regroup {
namespace {

using namespace operation;

Symbol unary(const Symbol& x, Any operation, SampleExtent extent) {
  return x.graph().add(std::move(operation), {x.node()}, extent);
}

Symbol unary(const Symbol& x, Any operation) { return unary(x, std::move(operation), x.extent()); }

Symbol convolved(const Symbol& x, const Convolve& convolve) {
  const auto out = [&](std::int64_t size, std::int64_t padding, std::int64_t kernel) {
    return (size + padding - kernel) / convolve.stride + 1;
  };
  const at::Tensor& weight = convolve.weight;
  const SampleExtent in = x.extent();
  return unary(x, convolve,
               {weight.size(0), out(in.height, convolve.top + convolve.bottom, weight.size(2)),
                out(in.width, convolve.left + convolve.right, weight.size(3))});
}

}  // namespace

const SampleExtent& Symbol::extent() const { return graph_->nodes()[node_].extent; }

Graph::Graph(SampleExtent input) { nodes_.push_back({Input{}, {}, input}); }

Symbol Graph::add(operation::Any operation, std::vector<std::size_t> inputs, SampleExtent extent) {
  nodes_.push_back({std::move(operation), std::move(inputs), extent});
  return {*this, nodes_.size() - 1};
}

void Graph::name(const at::Tensor& tensor, std::string name) {
  names_.emplace(tensor.unsafeGetTensorImpl(), std::move(name));
  named_.push_back(tensor);
}

void Graph::name(const Network& network, const std::string& prefix) {
  for (const NamedTensor& tensor : tensors_of(network)) name(tensor.tensor, prefix + tensor.name);
}

const std::string& Graph::name_of(const at::Tensor& tensor) const {
  const auto found = names_.find(tensor.unsafeGetTensorImpl());
  if (found == names_.end()) throw std::logic_error("a tensor of a graph has no name");
  return found->second;
}

std::vector<at::Tensor> tensors_of(const operation::Any& operation) {
  if (const auto* const scaled = std::get_if<Scale>(&operation))
    return scaled->factor.defined() ? std::vector{scaled->factor, scaled->offset} : std::vector{scaled->offset};
  if (const auto* const product = std::get_if<MatrixProduct>(&operation)) return {product->weight, product->bias};
  if (const auto* const convolve = std::get_if<Convolve>(&operation)) return {convolve->weight};
  if (const auto* const normalise = std::get_if<Normalise>(&operation)) {
    const BatchNorm& norm = normalise->norm;
    return {norm.weight, norm.bias, norm.running_mean, norm.running_var};
  }
  return {};
}

Symbol operator+(const Symbol& x, const Symbol& y) { return x.graph().add(Add{}, {x.node(), y.node()}, x.extent()); }
Symbol operator/(const Symbol& x, double by) { return unary(x, Divide{by}); }
Symbol scale(const Symbol& x, const at::Tensor& factor, const at::Tensor& offset) {
  return unary(x, Scale{factor, offset});
}

at::Tensor add_per_channel(const at::Tensor& x, const at::Tensor& numbers) {
  return x + numbers.to(x.scalar_type()).view({1, -1, 1, 1});
}

Symbol add_per_channel(const Symbol& x, const at::Tensor& numbers) { return unary(x, Scale{{}, numbers}); }

Symbol batch_norm(const Symbol& x, const BatchNorm& norm, bool /*training*/, Activation activation,
                  const Symbol& addend) {
  Symbol y = unary(x, Normalise{norm});
  if (addend.defined()) y = y + addend;
  return activation == Activation::none ? y : unary(y, Activate{activation});
}

Symbol relu(const Symbol& x) { return unary(x, Activate{Activation::relu}); }

Symbol max_pool2d(const Symbol& x, std::int64_t size, std::int64_t stride, std::int64_t padding) {
  if (stride == 0) stride = size;
  const auto out = [&](std::int64_t pixels) { return (pixels + 2 * padding - size) / stride + 1; };
  const SampleExtent in = x.extent();
  return unary(x, MaxPool{size, stride, padding}, {in.channels, out(in.height), out(in.width)});
}

Symbol mirror(const Symbol& x) { return unary(x, Mirror{}); }
Symbol softmax(const Symbol& x) { return unary(x, Softmax{}); }
Symbol log(const Symbol& x) { return unary(x, Logarithm{}); }

at::Tensor global_mean(const at::Tensor& x) { return at::adaptive_avg_pool2d(x, {1, 1}).flatten(1); }
Symbol global_mean(const Symbol& x) { return unary(x, GlobalMean{}, {x.extent().channels}); }
at::Tensor global_max(const at::Tensor& x) { return at::amax(x, {2, 3}).to(at::kFloat); }
Symbol global_max(const Symbol& x) { return unary(x, GlobalMax{}, {x.extent().channels}); }
at::Tensor as_vectors(const at::Tensor& x) { return x.flatten(1); }
Symbol as_vectors(const Symbol& x) { return x; }

ScoresOf<Symbol> Network::describe(const Symbol& /*images*/) const {
  throw std::logic_error("this network does not describe itself");
}

Symbol Linear::operator()(const Symbol& x) const { return unary(x, MatrixProduct{weight, bias}, {weight.size(0)}); }
Symbol Linear::rounded(const Symbol& x) const { return (*this)(x); }

Symbol Convolution::operator()(const Symbol& x) const {
  return convolved(x, {weight, stride, 1, padding, padding, padding, padding});
}

BesideOf<Symbol> Convolution::beside(const Symbol& x) const { return {(*this)(x), x}; }

Symbol DepthwiseConvolution::operator()(const Symbol& x) const {
  const SampleExtent in = x.extent();
  const TensorflowPadding rows = tensorflow_padding(in.height, weight.size(2), stride);
  const TensorflowPadding columns = tensorflow_padding(in.width, weight.size(3), stride);
  return convolved(x, {weight, stride, in.channels, rows.before, columns.before, rows.after, columns.after});
}

Symbol convolved_as_tensorflow(const Convolution& convolution, const Symbol& x) {
  const SampleExtent in = x.extent();
  const at::Tensor& weight = convolution.weight;
  const TensorflowPadding rows = tensorflow_padding(in.height, weight.size(2), convolution.stride);
  const TensorflowPadding columns = tensorflow_padding(in.width, weight.size(3), convolution.stride);
  return convolved(x, {weight, convolution.stride, 1, rows.before, columns.before, rows.after, columns.after});
}

}  // namespace regroup
