#include "regroup/nn/linear.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <span>

#include "regroup/nn/engine_threads.h"
#include "regroup/nn/kernels/linear.h"
#include "regroup/nn/precision.h"

namespace regroup {
namespace {

std::span<float> floats(const at::Tensor& x) { return {x.data_ptr<float>(), static_cast<std::size_t>(x.numel())}; }

/// Of a layer's input.
LinearShape shape_of(const at::Tensor& x, std::int64_t out = 0) {
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  return {size(x.size(0)), size(x.size(1)), size(out)};
}

LinearScratch& scratch() {
  thread_local LinearScratch kept;
  return kept;
}

/// Rounded rows in a tensor's memory: of a tensor that is rounded already in its own.
struct Rounded {
  explicit Rounded(const at::Tensor& from) {
    const std::size_t columns = shape_of(from).in;
    if (from.scalar_type() == at::kBFloat16 && RoundedRows::step(columns) == columns) {
      memory = from;
      rows = {shape_of(from).rows, columns, halves(memory).data()};
      return;
    }
    const at::Tensor values = from.to(at::kFloat);
    memory = at::empty({from.size(0), static_cast<std::int64_t>(RoundedRows::step(columns))},
                       from.options().dtype(at::kBFloat16).requires_grad(false));
    rows = round_rows(floats(values), columns, halves(memory), engine_threads());
  }

  static std::span<std::uint16_t> halves(const at::Tensor& x) {
    return {static_cast<std::uint16_t*>(x.data_ptr()), static_cast<std::size_t>(x.numel())};
  }

  at::Tensor memory;
  RoundedRows rows;
};

at::Tensor output_of(const at::Tensor& x, const Linear& layer) {
  return at::empty({x.size(0), layer.weight.size(0)}, layer.weight.options().requires_grad(false));
}

at::Tensor product(const at::Tensor& x, const Linear& layer) {
  at::Tensor y = output_of(x, layer);
  linear_forward(shape_of(x, layer.weight.size(0)), floats(x), floats(layer.weight), floats(layer.bias), floats(y),
                 engine_threads());
  return y;
}

at::Tensor rounded_product(const at::Tensor& x, const RoundedRows& rounded_x, const Linear& layer) {
  at::Tensor y = output_of(x, layer);
  linear_forward(rounded_x, Rounded(layer.weight).rows, floats(layer.bias), floats(y), engine_threads());
  return y;
}

class LinearFunction : public torch::autograd::Function<LinearFunction> {
 public:
  // The names are the engine's: it looks for them.
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                            const at::Tensor& bias, bool rounds) {
    ctx->saved_data["needs_dx"] = x.requires_grad();
    ctx->saved_data["needs_dw"] = weight.requires_grad() || bias.requires_grad();
    if (!rounds) {
      ctx->save_for_backward({x, weight});
      return product(x, {weight, bias});
    }
    const Rounded rounded(x);
    ctx->save_for_backward({x, weight, rounded.memory});
    return rounded_product(x, rounded.rows, {weight, bias});
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 const torch::autograd::variable_list& gradients) {
    const auto saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    // Where second derivatives are asked for, the first ones are made of operations that have them.
    if (at::GradMode::is_enabled())
      return {gradients[0].mm(weight), gradients[0].t().mm(x.to(at::kFloat)), gradients[0].sum(0), {}};
    const at::Tensor dy = gradients[0].contiguous();
    const LinearShape shape = shape_of(x, weight.size(0));
    const Workers workers = engine_threads();
    at::Tensor dx, dweight, dbias;
    if (ctx->saved_data["needs_dx"].toBool()) {
      dx = at::empty_like(x);
      linear_backward_data(shape, floats(dy), floats(weight), floats(dx), scratch(), workers);
    }
    if (ctx->saved_data["needs_dw"].toBool()) {
      dweight = at::empty_like(weight);
      dbias = at::empty({weight.size(0)}, weight.options().requires_grad(false));
      if (saved.size() == 3) {
        const RoundedRows rounded{shape.rows, shape.in, Rounded::halves(saved[2]).data()};
        linear_backward_weights(rounded, floats(dy), floats(dweight), floats(dbias), scratch(), workers);
      } else {
        linear_backward_weights(shape, floats(x), floats(dy), floats(dweight), floats(dbias), scratch(), workers);
      }
    }
    return {dx, dweight, dbias, {}};
  }
};

at::Tensor apply(const at::Tensor& given, const Linear& layer, bool rounds) {
  const PrecisionScope exact(Precision::fp32, given.device());
  // Numbers that are rounded already may stay as they are, where nobody asks for their gradient.
  const bool stays = rounds && given.scalar_type() == at::kBFloat16 && !given.requires_grad();
  const at::Tensor x = (stays ? given : given.to(at::kFloat)).contiguous();
  if (!linear_available() || !x.is_cpu() || x.dim() != 2 || x.numel() == 0 || !layer.weight.is_contiguous())
    return at::linear(x.to(at::kFloat), layer.weight, layer.bias);
  if (at::GradMode::is_enabled()) return LinearFunction::apply(x, layer.weight, layer.bias, rounds);
  return rounds ? rounded_product(x, Rounded(x).rows, layer) : product(x, layer);
}

}  // namespace

at::Tensor Linear::operator()(const at::Tensor& x) const { return apply(x, *this, false); }

at::Tensor Linear::rounded(const at::Tensor& x) const {
  return apply(x, *this, rounded_linear_available() && bf16_is_on(x.device()));
}

}  // namespace regroup
