#include "regroup/export/torchscript.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/api/module.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string_view>

namespace regroup {
namespace {

using namespace operation;

/// Modules within modules, as the dots in the names of tensors say.
struct ModuleTree {
  std::map<std::string, ModuleTree> modules;
  std::map<std::string, at::Tensor> parameters, buffers;

  ModuleTree& at(std::string_view path) {
    const std::size_t dot = path.find('.');
    if (dot == std::string_view::npos) return *this;
    return modules[std::string(path.substr(0, dot))].at(path.substr(dot + 1));
  }
};

std::string_view last_name(std::string_view path) { return path.substr(path.rfind('.') + 1); }

/// `count` numbers the types, which need names of their own.
torch::jit::Module module_of(const ModuleTree& tree, int& count) {
  torch::jit::Module module(fmt::format("Part{}", count++));
  for (const auto& [name, part] : tree.modules) module.register_module(name, module_of(part, count));
  for (const auto& [name, tensor] : tree.parameters) module.register_parameter(name, tensor, false);
  for (const auto& [name, tensor] : tree.buffers) module.register_buffer(name, tensor);
  return module;
}

/// How the code says `self.layer1.0.weight`, which has a number where a name must be.
std::string expression(std::string_view path) {
  std::string code = "self";
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    const bool is_number = name.find_first_not_of("0123456789") == std::string_view::npos;
    code = is_number ? fmt::format("getattr({}, \"{}\")", code, name) : fmt::format("{}.{}", code, name);
  }
  return code;
}

/// Writes the forward pass as code, and collects its tensors.
class CodeWriter {
 public:
  explicit CodeWriter(const ExportedModel& model) : model_(model), graph_(*model.graph) {
    const char* input = model.input_name();
    code_ = fmt::format("def forward(self, {}: Tensor) -> Tensor:\n", input);
    refuse_other_shapes(input);
    line(fmt::format("v0 = {}.float()", input));
    for (std::size_t i = 1; i < graph_.nodes().size(); ++i) {
      node_ = &graph_.nodes()[i];
      line(fmt::format("v{} = {}", i,
                       std::visit([&](const auto& operation) { return value_of(operation); }, node_->operation)));
    }
    line(fmt::format("return v{}", model.logits));
  }

  const std::string& code() const { return code_; }
  const ModuleTree& tensors() const { return tensors_; }

 private:
  void line(const std::string& text) { code_ += "  " + text + "\n"; }

  void refuse_other_shapes(const char* input) {
    const SampleExtent extent = graph_.nodes().front().extent;
    std::string fits =
        fmt::format("{0}.dim() == {1} and {0}.size(1) == {2}", input, extent.is_image() ? 4 : 2, extent.channels);
    if (extent.is_image())
      fits += fmt::format(" and {0}.size(2) == {1} and {0}.size(3) == {2}", input, extent.height, extent.width);
    line(fmt::format("assert {}, \"give {}\"", fits, model_.input_text()));
  }

  std::string input(std::size_t number = 0) const { return fmt::format("v{}", node_->inputs[number]); }

  std::string tensor(const at::Tensor& values, bool is_learnt) {
    const std::string& path = graph_.name_of(values);
    ModuleTree& part = tensors_.at(path);
    const at::Tensor kept = values.detach().to(at::kCPU).clone(at::MemoryFormat::Contiguous);
    (is_learnt ? part.parameters : part.buffers).emplace(last_name(path), kept);
    return expression(path);
  }
  std::string learnt(const at::Tensor& values) { return tensor(values, true); }
  std::string fixed(const at::Tensor& values) { return tensor(values, false); }

  /// Numbers of channels in a shape that fits all samples.
  std::string per_channel(const std::string& values) const {
    return node_->extent.is_image() ? fmt::format("{}.view(1, -1, 1, 1)", values) : values;
  }

  std::string value_of(const Input&) { return model_.input_name(); }
  std::string value_of(const Scale& scale) {
    if (!scale.factor.defined()) return fmt::format("{} + {}", input(), per_channel(learnt(scale.offset)));
    return fmt::format("{} * {} + {}", input(), per_channel(fixed(scale.factor)), per_channel(fixed(scale.offset)));
  }
  std::string value_of(const Convolve& c) {
    const bool is_even = c.top == c.bottom && c.left == c.right;
    const std::string x = is_even ? input()
                                  : fmt::format("torch.constant_pad_nd({}, [{}, {}, {}, {}], 0.0)", input(), c.left,
                                                c.right, c.top, c.bottom);
    return fmt::format("torch.conv2d({}, {}, None, [{}, {}], [{}, {}], [1, 1], {})", x, learnt(c.weight), c.stride,
                       c.stride, is_even ? c.top : 0, is_even ? c.left : 0, c.groups);
  }
  std::string value_of(const Normalise& normalise) {
    const BatchNorm& norm = normalise.norm;
    return fmt::format("torch.batch_norm({}, {}, {}, {}, {}, False, 0.0, {}, True)", input(), learnt(norm.weight),
                       learnt(norm.bias), fixed(norm.running_mean), fixed(norm.running_var), norm.epsilon);
  }
  std::string value_of(const Activate& activate) {
    if (activate.activation == Activation::relu) return fmt::format("torch.relu({})", input());
    return fmt::format("torch.clamp({}, 0.0, 6.0)", input());
  }
  std::string value_of(const MaxPool& p) {
    return fmt::format("torch.max_pool2d({}, [{}, {}], [{}, {}], [{}, {}])", input(), p.size, p.size, p.stride,
                       p.stride, p.padding, p.padding);
  }
  std::string value_of(const GlobalMax&) { return fmt::format("torch.amax({}, [2, 3])", input()); }
  std::string value_of(const GlobalMean&) { return fmt::format("torch.mean({}, [2, 3])", input()); }
  std::string value_of(const MatrixProduct& product) {
    const std::string weight = learnt(product.weight);
    return fmt::format("torch.linear({}, {}, {})", input(), weight, learnt(product.bias));
  }
  std::string value_of(const Add&) { return fmt::format("{} + {}", input(), input(1)); }
  std::string value_of(const Divide& divide) { return fmt::format("{} / {:.1f}", input(), divide.by); }
  std::string value_of(const Mirror&) { return fmt::format("torch.flip({}, [3])", input()); }
  std::string value_of(const Softmax&) { return fmt::format("torch.softmax({}, 1)", input()); }
  std::string value_of(const Logarithm&) { return fmt::format("torch.log({})", input()); }

  const ExportedModel& model_;
  const Graph& graph_;
  const Graph::Node* node_ = nullptr;
  std::string code_;
  ModuleTree tensors_;
};

}  // namespace

std::string torchscript_bytes(const ExportedModel& model) {
  const CodeWriter writer(model);
  int parts = 0;
  torch::jit::Module module = module_of(writer.tensors(), parts);
  c10::List<std::string> names;
  for (const std::string& name : model.class_names()) names.push_back(name);
  module.register_attribute("class_names", c10::ListType::create(c10::StringType::get()), names);
  const auto number = [&](const char* name, std::int64_t value) {
    module.register_attribute(name, c10::IntType::get(), value);
  };
  number("channels", model.card.channels);
  number("height", model.card.height);
  number("width", model.card.width);
  number("resize", model.card.resize);
  module.define(writer.code());
  module.eval();
  std::ostringstream out;
  module.save(out, {{"regroup.json", model.card_text()}});
  return std::move(out).str();
}

}  // namespace regroup
