#include "regroup/nn/fast_net.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <vector>

#include "regroup/nn/graph.h"

namespace regroup {
namespace {

class FastNet : public Network {
 public:
  explicit FastNet(const NetworkShape& shape) {
    int height = shape.height - 1, width = shape.width - 1;
    int channels = 8 * shape.channels;
    whiten_ = add_convolution("whiten", shape.channels, channels, 2, 1, 0);
    parameter("whiten.weight").rate = 0;
    count(whiten_.weight, height, width);
    whiten_bias_ = add_bias("whiten.bias", channels);
    for (int number = 1, out = shape.base_width; number <= 3; ++number, out *= 2) {
      const std::string name = fmt::format("block{}", number);
      Block block;
      block.first = add_convolution(name + ".conv1", channels, out, 3, 1, 1);
      count(block.first.weight, height, width);
      height /= 2;
      width /= 2;
      block.first_norm = add_norm(name + ".bn1", out);
      block.second = add_convolution(name + ".conv2", out, out, 3, 1, 1);
      count(block.second.weight, height, width);
      block.second_norm = add_norm(name + ".bn2", out);
      blocks_.push_back(block);
      channels = out;
    }
    classifier_ = add_linear("fc", channels, shape.classes);
    multiply_adds += static_cast<double>(classifier_.weight.numel());
  }

  /// The whitening: the principal directions of the patches, each scaled to variance 1, and their negatives. The
  /// convolutions start as near to "pass it on" as their shape allows.
  void fit_to(const at::Tensor& images) override {
    const at::NoGradGuard no_grad;
    const auto channels = images.size(1);
    const at::Tensor patches =
        images.unfold(2, 2, 1).unfold(3, 2, 1).permute({0, 2, 3, 1, 4, 5}).reshape({-1, 4 * channels});
    const at::Tensor covariance =
        at::matmul(patches.t(), patches).to(at::kDouble) / static_cast<double>(patches.size(0));
    const auto [values, vectors] = at::linalg_eigh(covariance, "L");
    const at::Tensor directions = (vectors / (values.clamp_min(0) + 1e-2).sqrt()).t().flip({0}).to(at::kFloat);
    whiten_.weight.copy_(at::cat({directions, -directions}).view({8 * channels, channels, 2, 2}));
    for (const Block& block : blocks_) {
      for (const Convolution& convolution : {block.first, block.second}) {
        const auto same = std::min(convolution.weight.size(0), convolution.weight.size(1));
        for (std::int64_t c = 0; c < same; ++c) {
          convolution.weight[c].zero_();
          convolution.weight[c][c][1][1] = 1;
        }
      }
    }
  }

  Scores forward(const at::Tensor& images) const override { return pass(images); }
  ScoresOf<Symbol> describe(const Symbol& images) const override { return pass(images); }

 private:
  template <class X>
  ScoresOf<X> pass(const X& images) const {
    X x = relu(add_per_channel(whiten_(images), whiten_bias_));
    for (const Block& block : blocks_) {
      x = batch_norm(max_pool2d(block.first(x), 2), block.first_norm, training, Activation::relu);
      x = batch_norm(block.second(x), block.second_norm, training, Activation::relu);
    }
    const X features = global_max(x);
    return {features, classifier_(features) / 9};
  }

  struct Block {
    Convolution first;
    BatchNorm first_norm;
    Convolution second;
    BatchNorm second_norm;
  };

  /// Scales stay 1, and shifts learn much faster than the rest.
  BatchNorm add_norm(const std::string& name, int channels) {
    BatchNorm norm = add_batch_norm(name, channels);
    parameter(name + ".weight").rate = 0;
    Parameter& bias = parameter(name + ".bias");
    bias.rate = 64;
    bias.decay = false;
    return norm;
  }

  Convolution whiten_;
  at::Tensor whiten_bias_;
  std::vector<Block> blocks_;
  Linear classifier_;
};

}  // namespace

std::unique_ptr<Network> make_fast_net(const NetworkShape& shape) { return std::make_unique<FastNet>(shape); }

}  // namespace regroup
