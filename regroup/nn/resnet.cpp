#include "regroup/nn/resnet.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "regroup/nn/graph.h"

namespace regroup {
namespace {

enum class Stem { small_images, imagenet };
enum class Block { basic, bottleneck };

/// The size of an image as it goes through the layers, to count multiply-adds.
struct Extent {
  int height, width;

  void pass(const Convolution& convolution) {
    height = out(height, convolution);
    width = out(width, convolution);
  }

 private:
  static int out(int size, const Convolution& convolution) {
    const auto kernel = static_cast<int>(convolution.weight.size(2));
    return (size + 2 * static_cast<int>(convolution.padding) - kernel) / static_cast<int>(convolution.stride) + 1;
  }
};

/// A network that counts its convolutions as an image goes through them.
class ConvolutionalNetwork : public Network {
 protected:
  void count_through(const Convolution& convolution, Extent& extent) {
    extent.pass(convolution);
    count(convolution.weight, extent.height, extent.width);
  }
};

class ResNet : public ConvolutionalNetwork {
 public:
  ResNet(const NetworkShape& shape, Stem stem, Block block, const std::array<int, 4>& depths)
      : stem_(stem), block_(block) {
    Extent extent{shape.height, shape.width};
    int width = shape.base_width;
    stem_convolution_ = stem == Stem::small_images ? add_convolution("conv1", shape.channels, width, 3, 1, 1)
                                                   : add_convolution("conv1", shape.channels, width, 7, 2, 3);
    count_through(stem_convolution_, extent);
    stem_norm_ = add_batch_norm("bn1", width);
    if (stem == Stem::imagenet) {
      extent.height = (extent.height + 1) / 2;
      extent.width = (extent.width + 1) / 2;
    }
    int channels = width;
    for (std::size_t stage = 0; stage < depths.size(); ++stage, width *= 2) {
      for (int depth = 0; depth < depths[stage]; ++depth) {
        const std::string name = fmt::format("layer{}.{}", stage + 1, depth);
        channels = add_unit(name, channels, width, stage > 0 && depth == 0 ? 2 : 1, extent);
      }
    }
    classifier_ = add_linear("fc", channels, shape.classes);
    multiply_adds += static_cast<double>(classifier_.weight.numel());
  }

  Scores forward(const at::Tensor& images) const override { return pass(images); }
  ScoresOf<Symbol> describe(const Symbol& images) const override { return pass(images); }

 private:
  template <class X>
  ScoresOf<X> pass(const X& images) const {
    X x = batch_norm(stem_convolution_(images), stem_norm_, training, Activation::relu);
    if (stem_ == Stem::imagenet) x = max_pool2d(x, 3, 2, 1);
    for (const Unit& unit : units_) {
      auto [y, beside] = unit.layers.front().convolution.beside(x);
      for (std::size_t i = 1; i < unit.layers.size(); ++i)
        y = unit.layers[i].convolution(batch_norm(y, unit.layers[i - 1].norm, training, Activation::relu));
      if (unit.shortcut)
        beside = batch_norm(unit.shortcut->convolution(beside), unit.shortcut->norm, training, Activation::none);
      x = batch_norm(y, unit.layers.back().norm, training, Activation::relu, beside);
    }
    const X features = global_mean(x);
    return {features, classifier_(features)};
  }

  struct Layer {
    Convolution convolution;
    BatchNorm norm;
  };
  struct Unit {
    std::vector<Layer> layers;
    std::optional<Layer> shortcut;
  };

  int add_unit(const std::string& name, int in, int width, int stride, Extent& extent) {
    Unit unit;
    const Extent before = extent;
    const auto add = [&](int number, int from, int to, int kernel, int by) {
      const Convolution convolution =
          add_convolution(fmt::format("{}.conv{}", name, number), from, to, kernel, by, kernel / 2);
      count_through(convolution, extent);
      unit.layers.push_back({convolution, add_batch_norm(fmt::format("{}.bn{}", name, number), to)});
    };
    int out = width;
    if (block_ == Block::basic) {
      add(1, in, width, 3, stride);
      add(2, width, width, 3, 1);
    } else {
      out = 4 * width;
      add(1, in, width, 1, 1);
      add(2, width, width, 3, stride);
      add(3, width, out, 1, 1);
    }
    if (stride != 1 || in != out) {
      Extent beside = before;
      const Convolution convolution = add_convolution(name + ".downsample.0", in, out, 1, stride, 0);
      count_through(convolution, beside);
      unit.shortcut = Layer{convolution, add_batch_norm(name + ".downsample.1", out)};
    }
    units_.push_back(std::move(unit));
    return out;
  }

  Stem stem_;
  Block block_;
  Convolution stem_convolution_;
  BatchNorm stem_norm_;
  std::vector<Unit> units_;
  Linear classifier_;
};

class PreActResNet : public ConvolutionalNetwork {
 public:
  explicit PreActResNet(const NetworkShape& shape) {
    Extent extent{shape.height, shape.width};
    int width = shape.base_width, channels = width;
    stem_ = add_convolution("conv1", shape.channels, width, 3, 1, 1);
    count_through(stem_, extent);
    stem_norm_ = add_batch_norm("bn1", width);
    for (int stage = 0; stage < 4; ++stage, width *= 2) {
      for (int depth = 0; depth < 2; ++depth) {
        const std::string name = fmt::format("layer{}.{}", stage + 1, depth);
        const int stride = stage > 0 && depth == 0 ? 2 : 1;
        Unit unit;
        unit.first_norm = add_batch_norm(name + ".bn1", channels);
        unit.first = add_convolution(name + ".conv1", channels, width, 3, stride, 1);
        Extent beside = extent;
        count_through(unit.first, extent);
        unit.second_norm = add_batch_norm(name + ".bn2", width);
        unit.second = add_convolution(name + ".conv2", width, width, 3, 1, 1);
        count_through(unit.second, extent);
        if (stride != 1 || channels != width) {
          unit.shortcut = add_convolution(name + ".downsample.0", channels, width, 1, stride, 0);
          count_through(*unit.shortcut, beside);
        }
        units_.push_back(unit);
        channels = width;
      }
    }
    classifier_ = add_linear("fc", channels, shape.classes);
    multiply_adds += static_cast<double>(classifier_.weight.numel());
  }

  Scores forward(const at::Tensor& images) const override { return pass(images); }
  ScoresOf<Symbol> describe(const Symbol& images) const override { return pass(images); }

 private:
  template <class X>
  ScoresOf<X> pass(const X& images) const {
    X x = batch_norm(stem_(images), stem_norm_, training, Activation::relu);
    for (const Unit& unit : units_) {
      auto [y, beside] = unit.first.beside(batch_norm(x, unit.first_norm, training, Activation::relu));
      if (unit.shortcut) beside = (*unit.shortcut)(beside);
      x = unit.second(batch_norm(y, unit.second_norm, training, Activation::relu)) + beside;
    }
    const X features = global_mean(x);
    return {features, classifier_(features)};
  }

  struct Unit {
    BatchNorm first_norm;
    Convolution first;
    BatchNorm second_norm;
    Convolution second;
    std::optional<Convolution> shortcut;
  };

  Convolution stem_;
  BatchNorm stem_norm_;
  std::vector<Unit> units_;
  Linear classifier_;
};

}  // namespace

std::unique_ptr<Network> make_resnet18(const NetworkShape& shape) {
  return std::make_unique<ResNet>(shape, Stem::small_images, Block::basic, std::array{2, 2, 2, 2});
}

std::unique_ptr<Network> make_resnet34(const NetworkShape& shape) {
  return std::make_unique<ResNet>(shape, Stem::small_images, Block::basic, std::array{3, 4, 6, 3});
}

std::unique_ptr<Network> make_resnet18_imagenet(const NetworkShape& shape) {
  return std::make_unique<ResNet>(shape, Stem::imagenet, Block::basic, std::array{2, 2, 2, 2});
}

std::unique_ptr<Network> make_resnet34_imagenet(const NetworkShape& shape) {
  return std::make_unique<ResNet>(shape, Stem::imagenet, Block::basic, std::array{3, 4, 6, 3});
}

std::unique_ptr<Network> make_resnet50(const NetworkShape& shape) {
  return std::make_unique<ResNet>(shape, Stem::imagenet, Block::bottleneck, std::array{3, 4, 6, 3});
}

std::unique_ptr<Network> make_preact_resnet18(const NetworkShape& shape) {
  return std::make_unique<PreActResNet>(shape);
}

}  // namespace regroup
