#include "regroup/export/onnx.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "regroup/core/error.h"
#include "regroup/io/protobuf.h"

namespace regroup {
namespace {

using namespace operation;

// Numbers of the format: types of elements and of attributes.
constexpr int element_float = 1, element_int64 = 7;
constexpr int attribute_float = 1, attribute_int = 2, attribute_ints = 7;
constexpr std::int64_t format_version = 5, opset = 10;

/// TensorProto { repeated int64 dims = 1; int32 data_type = 2; string name = 8; bytes raw_data = 9; }
ProtobufMessage tensor_message(const std::string& name, int type, at::IntArrayRef sizes, std::string_view bytes) {
  ProtobufMessage message;
  for (const std::int64_t size : sizes) message.whole(1, size);
  message.whole(2, type);
  message.bytes(8, name);
  message.bytes(9, bytes);
  return message;
}

/// ValueInfoProto { string name = 1; TypeProto type = 2; }, of floats, the first dimension being free
ProtobufMessage value_message(const std::string& name, const SampleExtent& extent) {
  // TensorShapeProto { repeated Dimension { int64 dim_value = 1; string dim_param = 2; } dim = 1; }
  ProtobufMessage shape, samples;
  samples.bytes(2, "samples");
  shape.message(1, samples);
  const auto dimension = [&](std::int64_t size) {
    ProtobufMessage message;
    message.whole(1, size);
    shape.message(1, message);
  };
  dimension(extent.channels);
  if (extent.is_image()) {
    dimension(extent.height);
    dimension(extent.width);
  }
  // TypeProto { Tensor { int32 elem_type = 1; TensorShapeProto shape = 2; } tensor_type = 1; }
  ProtobufMessage tensor, type, value;
  tensor.whole(1, element_float);
  tensor.message(2, shape);
  type.message(1, tensor);
  value.bytes(1, name);
  value.message(2, type);
  return value;
}

/// NodeProto { repeated string input = 1, output = 2; string name = 3, op_type = 4; repeated AttributeProto = 5; }
class NodeMessage {
 public:
  NodeMessage(const char* kind, const std::vector<std::string>& inputs, const std::string& output) {
    for (const std::string& input : inputs) message_.bytes(1, input);
    message_.bytes(2, output);
    message_.bytes(3, output);
    message_.bytes(4, kind);
  }

  NodeMessage& attribute(const char* name, double value) {
    return attribute(name, attribute_float, [&](ProtobufMessage& m) { m.number(2, static_cast<float>(value)); });
  }
  NodeMessage& attribute(const char* name, std::int64_t value) {
    return attribute(name, attribute_int, [&](ProtobufMessage& m) { m.whole(3, value); });
  }
  NodeMessage& attribute(const char* name, const std::vector<std::int64_t>& values) {
    return attribute(name, attribute_ints, [&](ProtobufMessage& m) {
      for (const std::int64_t value : values) m.whole(8, value);
    });
  }

  const ProtobufMessage& message() const { return message_; }

 private:
  /// AttributeProto { string name = 1; float f = 2; int64 i = 3; repeated int64 ints = 8; AttributeType type = 20; }
  template <class Write>
  NodeMessage& attribute(const char* name, int type, const Write& write) {
    ProtobufMessage message;
    message.bytes(1, name);
    write(message);
    message.whole(20, type);
    message_.message(5, message);
    return *this;
  }

  ProtobufMessage message_;
};

/// Writes the nodes of a graph one after the other. An operation of ours is one or a few of theirs.
class GraphWriter {
 public:
  explicit GraphWriter(const ExportedModel& model) : model_(model), graph_(*model.graph) {
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
      if (i == 0) continue;
      node_ = &graph_.nodes()[i];
      output_ = value_name(i);
      std::visit([&](const auto& operation) { write(operation); }, node_->operation);
    }
  }

  /// GraphProto { repeated NodeProto node = 1; string name = 2; repeated TensorProto initializer = 5;
  ///              repeated ValueInfoProto input = 11, output = 12; }
  ProtobufMessage message() const {
    ProtobufMessage message;
    for (const ProtobufMessage& node : nodes_) message.message(1, node);
    message.bytes(2, model_.card.model);
    for (const ProtobufMessage& tensor : tensors_) message.message(5, tensor);
    message.message(11, value_message(value_name(0), graph_.nodes().front().extent));
    message.message(12, value_message(value_name(model_.logits), graph_.nodes()[model_.logits].extent));
    return message;
  }

 private:
  std::string value_name(std::size_t node) const {
    if (node == 0) return model_.input_name();
    return node == model_.logits ? "logits" : fmt::format("v{}", node);
  }

  std::vector<std::string> inputs() const {
    std::vector<std::string> names;
    for (const std::size_t input : node_->inputs) names.push_back(value_name(input));
    return names;
  }

  void constant(const std::string& name, const at::Tensor& values, at::IntArrayRef sizes) {
    if (!written_.insert(name).second) return;
    const at::Tensor dense = values.detach().to(at::kCPU, at::kFloat).contiguous();
    tensors_.push_back(
        tensor_message(name, element_float, sizes, {static_cast<const char*>(dense.data_ptr()), dense.nbytes()}));
  }

  std::string tensor(const at::Tensor& values) {
    const std::string& name = graph_.name_of(values);
    constant(name, values, values.sizes());
    return name;
  }

  /// Numbers of channels that are all alike.
  std::string same(double value, const at::Tensor& like) {
    const std::string name = fmt::format("all_{}_{}", value, like.numel());
    constant(name, at::full(like.sizes(), value), like.sizes());
    return name;
  }

  NodeMessage node(const char* kind, const std::vector<std::string>& more = {}) {
    std::vector<std::string> names = inputs();
    names.insert(names.end(), more.begin(), more.end());
    return {kind, names, output_};
  }

  void add(const NodeMessage& node) { nodes_.push_back(node.message()); }

  void write(const Input&) {}

  /// As a normalisation with the mean 0 and the variance 1: what else has a number per channel is taken by OpenCV for a
  /// number per sample where there are as many of both.
  void write(const Scale& scale) {
    const at::Tensor& offset = scale.offset;
    const std::string factor = scale.factor.defined() ? tensor(scale.factor) : same(1, offset);
    add(node("BatchNormalization", {factor, tensor(offset), same(0, offset), same(1, offset)})
            .attribute("epsilon", 0.0));
  }

  void write(const Convolve& convolve) {
    const at::Tensor& weight = convolve.weight;
    add(node("Conv", {tensor(weight)})
            .attribute("kernel_shape", {weight.size(2), weight.size(3)})
            .attribute("strides", {convolve.stride, convolve.stride})
            .attribute("pads", {convolve.top, convolve.left, convolve.bottom, convolve.right})
            .attribute("group", convolve.groups));
  }

  void write(const Normalise& normalise) {
    const BatchNorm& norm = normalise.norm;
    add(node("BatchNormalization",
             {tensor(norm.weight), tensor(norm.bias), tensor(norm.running_mean), tensor(norm.running_var)})
            .attribute("epsilon", norm.epsilon));
  }

  void write(const Activate& activate) {
    if (activate.activation == Activation::relu) return add(node("Relu"));
    add(node("Clip").attribute("min", 0.0).attribute("max", 6.0));
  }

  void write(const MaxPool& pool) {
    const std::int64_t p = pool.padding;
    add(node("MaxPool")
            .attribute("kernel_shape", {pool.size, pool.size})
            .attribute("strides", {pool.stride, pool.stride})
            .attribute("pads", {p, p, p, p}));
  }

  void write(const GlobalMax&) { pool("GlobalMaxPool"); }
  void write(const GlobalMean&) { pool("GlobalAveragePool"); }

  void pool(const char* kind) {
    const std::string pooled = output_ + "_pooled";
    add({kind, inputs(), pooled});
    add(NodeMessage("Flatten", {pooled}, output_).attribute("axis", std::int64_t{1}));
  }

  void write(const MatrixProduct& product) {
    add(node("Gemm", {tensor(product.weight), tensor(product.bias)}).attribute("transB", std::int64_t{1}));
  }

  void write(const Add&) { add(node("Add")); }

  void write(const Divide& divide) {
    const std::string by = fmt::format("by_{}", divide.by);
    constant(by, at::full({}, divide.by), {});
    add(node("Div", {by}));
  }

  /// As a product with a matrix that has ones from corner to corner, which every runtime knows; steps backwards are not
  /// known everywhere.
  void write(const Mirror&) {
    const std::int64_t width = node_->extent.width;
    const std::string name = fmt::format("mirror_{}", width);
    constant(name, at::eye(width).flip({1}), {width, width});
    add(node("MatMul", {name}));
  }

  void write(const Softmax&) { add(node("Softmax").attribute("axis", std::int64_t{1})); }
  void write(const Logarithm&) { add(node("Log")); }

  const ExportedModel& model_;
  const Graph& graph_;
  const Graph::Node* node_ = nullptr;
  std::string output_;
  std::vector<ProtobufMessage> nodes_, tensors_;
  std::set<std::string> written_;
};

}  // namespace

std::string onnx_bytes(const ExportedModel& model) {
  // ModelProto { int64 ir_version = 1; string producer_name = 2; GraphProto graph = 7;
  //              repeated OperatorSetIdProto { string domain = 1; int64 version = 2; } opset_import = 8;
  //              repeated StringStringEntryProto { string key = 1, value = 2; } metadata_props = 14; }
  ProtobufMessage message, versions;
  message.whole(1, format_version);
  message.bytes(2, "regroup");
  message.bytes(6, model.input_text());
  message.message(7, GraphWriter(model).message());
  versions.bytes(1, "");
  versions.whole(2, opset);
  message.message(8, versions);
  const auto property = [&](const char* key, const std::string& value) {
    ProtobufMessage entry;
    entry.bytes(1, key);
    entry.bytes(2, value);
    message.message(14, entry);
  };
  property("class_names", nlohmann::json(model.class_names()).dump());
  property("regroup", model.card_text());
  constexpr std::size_t largest = std::numeric_limits<std::int32_t>::max();
  if (message.encoded().size() > largest)
    throw UserError("the network is larger than the 2 GB that an ONNX file may have; export it as safetensors");
  return message.encoded();
}

}  // namespace regroup
