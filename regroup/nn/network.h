#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "regroup/nn/batch_norm.h"
#include "regroup/nn/convolution.h"
#include "regroup/nn/linear.h"

namespace regroup {

/// What a network says about images, or vectors.
template <class X>
struct ScoresOf {
  X features;  ///< what the last layer sees
  X logits;    ///< fp32, one per class
};
using Scores = ScoresOf<at::Tensor>;

/// A tensor of a network under its name in files.
struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

/// A tensor that is learnt.
struct Parameter : NamedTensor {
  double rate = 1;    ///< of the learning rate
  bool decay = true;  ///< whether weight decay applies
  int groups = 1;     ///< of a convolution: the parts of the channels that know nothing of each other
};

/// A network: tensors under the names that torchvision gives them, and what is computed with them. A network writes its
/// forward pass once, as a template, for tensors and for symbols (see graph.h).
class Network {
 public:
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  virtual Scores forward(const at::Tensor& images) const = 0;

  /// The same in evaluation, described instead of computed. A network that does not say cannot be exported.
  virtual ScoresOf<Symbol> describe(const Symbol& images) const;

  /// Looks at images of the training data, normalised, before the first step. Most networks have no use for them.
  virtual void fit_to(const at::Tensor& /*images*/) {}

  /// Whether batch statistics are those of the batch and are followed, or those of the training so far.
  bool training = true;

  std::vector<Parameter>& parameters() { return parameters_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::vector<NamedTensor>& buffers() const { return buffers_; }  ///< what is not learnt: running statistics

  /// Whether a tensor of this name belongs to the last layer, whose size is the number of classes.
  bool is_of_classifier(std::string_view tensor) const { return tensor.starts_with(classifier_name_ + "."); }

  void move_to(at::Device device);

  /// Multiply-adds of the convolutions and the classifier for one image, forward.
  double multiply_adds = 0;

  /// Numbers that the convolutions make of one image: what a step keeps in memory grows with them.
  double outputs = 0;

 protected:
  /// Counts a convolution with these weights whose output has this size.
  void count(const at::Tensor& weight, int height, int width);

  /// The tensors of a layer, made under `name`. Weights are set by initialise().
  Convolution add_convolution(const std::string& name, int in, int out, int kernel, int stride, int padding);
  BatchNorm add_batch_norm(const std::string& name, int channels);
  at::Tensor add_depthwise(const std::string& name, int channels, int kernel);
  Linear add_hidden(const std::string& name, int in, int out);
  Linear add_linear(const std::string& name, int in, int out);  ///< the classifier
  at::Tensor add_bias(const std::string& name, int channels);

  Parameter& parameter(std::string_view name);

 private:
  at::Tensor add_parameter(const std::string& name, at::Tensor tensor);

  std::vector<Parameter> parameters_;
  std::vector<NamedTensor> buffers_;
  std::string classifier_name_;
};

/// What a network is made for.
struct NetworkShape {
  int channels = 3;
  int height = 32;
  int width = 32;
  int classes = 10;
  int base_width = 0;      ///< channels of the first block; 0: what the network has by default
  bool is_vector = false;  ///< channels are the numbers of a vector
};

struct NetworkInfo {
  std::string_view name;
  std::string_view description;
  int default_width;
  int largest_image;  ///< the largest height and width that are chosen for it where nobody asks for others; 0: it takes
                      ///< vectors
  std::unique_ptr<Network> (*make)(const NetworkShape& shape);

  bool takes_vectors() const { return largest_image == 0; }
};

/// All networks.
std::span<const NetworkInfo> networks();

/// What is known of a network. Throws UserError that lists the known ones.
const NetworkInfo& network_named(std::string_view name);

/// A network by name, with weights drawn by seed and `member`, which tells several networks of one run apart.
std::unique_ptr<Network> make_network(std::string_view name, const NetworkShape& shape, std::uint64_t seed,
                                      std::uint32_t member = 0);

/// Copies all tensors from one network to another of the same kind. What was added to one alone stays as it is.
void copy_tensors(const Network& from, Network& to);

}  // namespace regroup
