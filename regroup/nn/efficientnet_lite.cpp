#include "regroup/nn/efficientnet_lite.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "regroup/nn/depthwise_convolution.h"
#include "regroup/nn/graph.h"

namespace regroup {
namespace {

struct Stage {
  int blocks, kernel, stride, expansion, channels;
};

constexpr std::array<Stage, 7> stages{{{1, 3, 1, 1, 16},
                                       {2, 3, 2, 6, 24},
                                       {2, 5, 2, 6, 40},
                                       {3, 3, 2, 6, 80},
                                       {3, 5, 1, 6, 112},
                                       {4, 5, 2, 6, 192},
                                       {1, 3, 1, 6, 320}}};
constexpr int stem_channels = 32, head_channels = 1280;

/// Channels of a scaled network: a multiple of 8 that is not more than a tenth below what was asked for.
int scaled(int channels, int base_width) {
  const double wanted = static_cast<double>(channels) * base_width / stages.front().channels;
  const int rounded = std::max(8, static_cast<int>(wanted + 4) / 8 * 8);
  return rounded < 0.9 * wanted ? rounded + 8 : rounded;
}

class EfficientNetLite : public Network {
 public:
  explicit EfficientNetLite(const NetworkShape& shape)
      : height_((shape.height + 1) / 2), width_((shape.width + 1) / 2) {
    stem_ = add_convolution("conv_stem", shape.channels, stem_channels, 3, 2, 0);
    count(stem_.weight, height_, width_);
    stem_norm_ = add_norm("bn1", stem_channels);
    int channels = stem_channels;
    for (std::size_t stage = 0; stage < stages.size(); ++stage)
      for (int block = 0; block < stages[stage].blocks; ++block)
        channels =
            add_block(fmt::format("blocks.{}.{}", stage, block), stages[stage], channels, block == 0, shape.base_width);
    head_ = add_pointwise("conv_head", channels, head_channels);
    head_norm_ = add_norm("bn2", head_channels);
    classifier_ = add_linear("classifier", head_channels, shape.classes);
    multiply_adds += static_cast<double>(classifier_.weight.numel());
  }

  Scores forward(const at::Tensor& images) const override { return pass(images); }
  ScoresOf<Symbol> describe(const Symbol& images) const override { return pass(images); }

 private:
  template <class X>
  ScoresOf<X> pass(const X& images) const {
    X x = batch_norm(convolved_as_tensorflow(stem_, images), stem_norm_, training, Activation::relu6);
    for (const Block& block : blocks_) {
      X y = x, beside = x;
      if (block.expansion) {
        const BesideOf<X> expanded = block.expansion->convolution.beside(x);
        beside = expanded.x;
        y = batch_norm(expanded.y, block.expansion->norm, training, Activation::relu6);
      }
      y = batch_norm(block.depthwise(y), block.depthwise_norm, training, Activation::relu6);
      y = block.projection.convolution(y);
      x = batch_norm(y, block.projection.norm, training, Activation::none, block.residual ? beside : X());
    }
    x = batch_norm(head_(x), head_norm_, training, Activation::relu6);
    const X features = global_mean(x);
    return {features, classifier_(features)};
  }

  struct Layer {
    Convolution convolution;
    BatchNorm norm;
  };
  struct Block {
    std::optional<Layer> expansion;
    DepthwiseConvolution depthwise;
    BatchNorm depthwise_norm;
    Layer projection;
    bool residual = false;
  };

  /// The original follows the statistics of the last hundreds of batches, too slowly for a short training.
  BatchNorm add_norm(const std::string& name, int channels) {
    BatchNorm norm = add_batch_norm(name, channels);
    norm.epsilon = 1e-3;
    return norm;
  }

  Convolution add_pointwise(const std::string& name, int in, int out) {
    Convolution convolution = add_convolution(name, in, out, 1, 1, 0);
    count(convolution.weight, height_, width_);
    return convolution;
  }

  int add_block(const std::string& name, const Stage& stage, int in, bool first, int base_width) {
    Block block;
    const int inner = in * stage.expansion, out = scaled(stage.channels, base_width);
    int norms = 0;
    const auto next_norm = [&](int channels) { return add_norm(fmt::format("{}.bn{}", name, ++norms), channels); };
    if (stage.expansion > 1) {
      const Convolution convolution = add_pointwise(name + ".conv_pw", in, inner);
      block.expansion = Layer{convolution, next_norm(inner)};
    }
    const int stride = first ? stage.stride : 1;
    block.depthwise = {add_depthwise(name + ".conv_dw", inner, stage.kernel), stride};
    height_ = (height_ + stride - 1) / stride;
    width_ = (width_ + stride - 1) / stride;
    count(block.depthwise.weight, height_, width_);
    block.depthwise_norm = next_norm(inner);
    // Without an expansion it is the only pointwise one.
    const Convolution projection = add_pointwise(name + (block.expansion ? ".conv_pwl" : ".conv_pw"), inner, out);
    block.projection = {projection, next_norm(out)};
    block.residual = stride == 1 && in == out;
    blocks_.push_back(std::move(block));
    return out;
  }

  int height_, width_;  ///< of the images, as far as the layers are made
  Convolution stem_;
  BatchNorm stem_norm_;
  std::vector<Block> blocks_;
  Convolution head_;
  BatchNorm head_norm_;
  Linear classifier_;
};

}  // namespace

std::unique_ptr<Network> make_efficientnet_lite0(const NetworkShape& shape) {
  return std::make_unique<EfficientNetLite>(shape);
}

}  // namespace regroup
