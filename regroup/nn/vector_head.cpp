#include "regroup/nn/vector_head.h"

#include <ATen/ATen.h>

#include "regroup/nn/graph.h"

namespace regroup {
namespace {

/// In training a product may be of rounded numbers; what is measured and saved is exact.
class VectorHead : public Network {
 protected:
  template <class X>
  X product(const Linear& layer, const X& x) const {
    return training ? layer.rounded(x) : layer(x);
  }
};

class LinearHead final : public VectorHead {
 public:
  explicit LinearHead(const NetworkShape& shape) : fc_(add_linear("fc", shape.channels, shape.classes)) {
    multiply_adds = static_cast<double>(shape.channels) * shape.classes;
    outputs = shape.channels + shape.classes;
  }

  Scores forward(const at::Tensor& images) const override { return pass(images); }
  ScoresOf<Symbol> describe(const Symbol& images) const override { return pass(images); }

 private:
  template <class X>
  ScoresOf<X> pass(const X& vectors) const {
    const X features = as_vectors(vectors);
    return {features, product(fc_, features)};
  }

  Linear fc_;
};

class MlpHead final : public VectorHead {
 public:
  explicit MlpHead(const NetworkShape& shape)
      : hidden_(add_hidden("hidden", shape.channels, shape.base_width)),
        fc_(add_linear("fc", shape.base_width, shape.classes)) {
    multiply_adds = static_cast<double>(shape.base_width) * (shape.channels + shape.classes);
    outputs = shape.channels + 2.0 * shape.base_width + shape.classes;
  }

  Scores forward(const at::Tensor& images) const override { return pass(images); }
  ScoresOf<Symbol> describe(const Symbol& images) const override { return pass(images); }

 private:
  template <class X>
  ScoresOf<X> pass(const X& vectors) const {
    const X features = relu(product(hidden_, as_vectors(vectors)));
    return {features, product(fc_, features)};
  }

  Linear hidden_, fc_;
};

}  // namespace

std::unique_ptr<Network> make_linear(const NetworkShape& shape) { return std::make_unique<LinearHead>(shape); }
std::unique_ptr<Network> make_mlp(const NetworkShape& shape) { return std::make_unique<MlpHead>(shape); }

}  // namespace regroup
