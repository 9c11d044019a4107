#include "regroup/nn/convolution.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <stdexcept>
#include <vector>

#include "regroup/nn/engine.h"
#include "regroup/nn/engine_threads.h"
#include "regroup/nn/kernels/bf16_convolution.h"
#include "regroup/nn/kernels/winograd.h"
#include "regroup/nn/precision.h"
#include "regroup/nn/second_derivatives.h"

namespace regroup {
namespace {

WinogradShape shape_of(const at::Tensor& x, const at::Tensor& weight) {
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  return {size(x.size(0)), size(x.size(2)), size(x.size(3)), size(x.size(1)), size(weight.size(0))};
}

std::span<float> floats(const at::Tensor& x) { return {x.data_ptr<float>(), static_cast<std::size_t>(x.numel())}; }

/// Scratch memory that is kept from call to call.
std::span<float> scratch(WinogradProduct product, const WinogradShape& shape, const Workers& workers) {
  thread_local std::vector<float> memory;
  const std::size_t needed = winograd_scratch(product, shape, workers.count);
  if (memory.size() < needed) memory.resize(needed);
  return memory;
}

at::Tensor images_like(const at::Tensor& x, std::int64_t channels) {
  return at::empty({x.size(0), channels, x.size(2), x.size(3)},
                   x.options().memory_format(at::MemoryFormat::ChannelsLast));
}

at::Tensor forward_product(const at::Tensor& x, const at::Tensor& weight) {
  const WinogradShape shape = shape_of(x, weight);
  const Workers workers = engine_threads();
  at::Tensor y = images_like(x, weight.size(0));
  winograd_forward(shape, floats(x), floats(weight), floats(y), scratch(WinogradProduct::forward, shape, workers),
                   workers);
  return y;
}

class WinogradConvolution : public torch::autograd::Function<WinogradConvolution> {
 public:
  // The names are the engine's: it looks for them.
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight) {
    ctx->save_for_backward({x, weight});
    ctx->saved_data["needs_dx"] = x.requires_grad();
    return forward_product(x, weight);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 const torch::autograd::variable_list& gradients) {
    if (at::GradMode::is_enabled()) throw std::logic_error("the Winograd convolution has first derivatives only");
    const auto saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const at::Tensor dy = gradients[0].contiguous(at::MemoryFormat::ChannelsLast);
    const WinogradShape shape = shape_of(x, weight);
    const Workers workers = engine_threads();
    at::Tensor dx;
    if (ctx->saved_data["needs_dx"].toBool()) {
      dx = images_like(x, x.size(1));
      winograd_backward_data(shape, floats(dy), floats(weight), floats(dx),
                             scratch(WinogradProduct::backward_data, shape, workers), workers);
    }
    at::Tensor dweight = at::empty_like(weight);
    winograd_backward_weights(shape, floats(x), floats(dy), floats(dweight),
                              scratch(WinogradProduct::backward_weights, shape, workers), workers);
    return {dx, dweight};
  }
};

bool fits_winograd(const at::Tensor& x, const Convolution& convolution) {
  const at::Tensor& weight = convolution.weight;
  return convolution.stride == 1 && convolution.padding == 1 && weight.size(2) == 3 && weight.size(3) == 3 &&
         x.is_cpu() && x.scalar_type() == at::kFloat && !bf16_is_on(x.device()) && !SecondDerivatives::are_wanted() &&
         x.is_contiguous(at::MemoryFormat::ChannelsLast) && weight.is_contiguous(at::MemoryFormat::ChannelsLast) &&
         winograd_available() && winograd_pays(shape_of(x, weight));
}

ConvolutionShape shape_of(const at::Tensor& x, const Convolution& convolution) {
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  const at::Tensor& weight = convolution.weight;
  return {size(x.size(0)),      size(x.size(2)),      size(x.size(3)),          size(x.size(1)),
          size(weight.size(0)), size(weight.size(2)), size(convolution.stride), size(convolution.padding)};
}

std::span<std::uint16_t> halves(const at::Tensor& x) {
  return {static_cast<std::uint16_t*>(x.data_ptr()), static_cast<std::size_t>(x.numel())};
}

/// On a processor with bf16. Gives y and x itself, so that the gradient of x has both ways in one pass.
class Bf16Convolution : public torch::autograd::Function<Bf16Convolution> {
 public:
  static at::Tensor product(const at::Tensor& x, const Convolution& rounded) {
    const ConvolutionShape shape = shape_of(x, rounded);
    at::Tensor y = at::empty({x.size(0), rounded.weight.size(0), static_cast<std::int64_t>(shape.out_height()),
                              static_cast<std::int64_t>(shape.out_width())},
                             x.options().memory_format(at::MemoryFormat::ChannelsLast));
    bf16_forward(shape, halves(x), halves(rounded.weight), halves(y), scratch(), engine_threads());
    return y;
  }

  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x,
                                                const at::Tensor& weight, std::int64_t stride, std::int64_t padding) {
    ctx->set_materialize_grads(false);
    const at::Tensor rounded = weight.to(at::kBFloat16);
    ctx->save_for_backward({x, rounded});
    ctx->saved_data["stride"] = stride;
    ctx->saved_data["padding"] = padding;
    ctx->saved_data["needs_dx"] = x.requires_grad();
    return {product(x, {rounded, stride, padding}), x};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 const torch::autograd::variable_list& gradients) {
    if (at::GradMode::is_enabled()) throw std::logic_error("the bf16 convolution has first derivatives only");
    const auto saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const ConvolutionShape shape =
        shape_of(x, {weight, ctx->saved_data["stride"].toInt(), ctx->saved_data["padding"].toInt()});
    if (!gradients[0].defined()) return {gradients[1], {}, {}, {}};
    const at::Tensor dy = gradients[0].contiguous(at::MemoryFormat::ChannelsLast);
    at::Tensor dx;
    if (ctx->saved_data["needs_dx"].toBool()) {
      dx = at::empty_like(x);
      const at::Tensor beside =
          gradients[1].defined() ? gradients[1].contiguous(at::MemoryFormat::ChannelsLast) : at::Tensor();
      bf16_backward_data(shape, halves(dy), halves(weight), beside.defined() ? halves(beside) : Bf16Span(), halves(dx),
                         scratch(), engine_threads());
    }
    at::Tensor dweight = at::empty_like(weight, weight.options().dtype(at::kFloat));
    bf16_backward_weights(shape, halves(x), halves(dy), floats(dweight), scratch(), engine_threads());
    return {dx, dweight, {}, {}};
  }

 private:
  static Bf16Scratch& scratch() {
    thread_local Bf16Scratch kept;
    return kept;
  }
};

bool fits_bf16(const at::Tensor& x, const Convolution& convolution) {
  const at::Tensor& weight = convolution.weight;
  return x.is_cpu() && x.scalar_type() == at::kBFloat16 && bf16_is_on(x.device()) && !SecondDerivatives::are_wanted() &&
         weight.scalar_type() == at::kFloat && weight.size(2) == weight.size(3) &&
         x.is_contiguous(at::MemoryFormat::ChannelsLast) && weight.is_contiguous(at::MemoryFormat::ChannelsLast) &&
         bf16_convolution_pays(shape_of(x, convolution));
}

/// A convolution with a kernel of one pixel: a matrix product over the pixels that the stride keeps.
class PointwiseConvolution : public torch::autograd::Function<PointwiseConvolution> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                            std::int64_t stride) {
    const at::Tensor pixels = rows(every(stride, x));
    ctx->save_for_backward({pixels, weight});
    ctx->saved_data["stride"] = stride;
    ctx->saved_data["sizes"] = x.sizes();
    ctx->saved_data["needs_dx"] = x.requires_grad();
    return product(x, weight, stride);
  }

  /// In operations of the engine's, so that it has all derivatives where the engine is asked for them.
  static at::Tensor product(const at::Tensor& x, const at::Tensor& weight, std::int64_t stride) {
    const at::Tensor kept = every(stride, x);
    return images(rows(kept).mm(matrix(weight).t()), kept.sizes());
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 const torch::autograd::variable_list& gradients) {
    if (at::GradMode::is_enabled()) throw std::logic_error("the pointwise convolution has first derivatives only");
    const PrecisionScope fp32(Precision::fp32, at::kCPU);
    const auto saved = ctx->get_saved_variables();
    const at::Tensor &pixels = saved[0], &weight = saved[1];
    const at::Tensor dy = rows(gradients[0]);
    const std::int64_t stride = ctx->saved_data["stride"].toInt();
    at::Tensor dx;
    if (ctx->saved_data["needs_dx"].toBool()) {
      const at::Tensor dkept = images(dy.mm(matrix(weight)), gradients[0].sizes());
      if (stride == 1) {
        dx = dkept;
      } else {
        dx = at::empty(ctx->saved_data["sizes"].toIntVector(),
                       dkept.options().memory_format(at::MemoryFormat::ChannelsLast));
        dx.zero_();
        every(stride, dx).copy_(dkept);
      }
    }
    return {dx, dy.t().mm(pixels).view(weight.sizes()), {}};
  }

 private:
  static at::Tensor every(std::int64_t stride, const at::Tensor& x) {
    return stride == 1 ? x : x.slice(2, 0, x.size(2), stride).slice(3, 0, x.size(3), stride);
  }

  static at::Tensor matrix(const at::Tensor& weight) { return weight.view({weight.size(0), weight.size(1)}); }

  static at::Tensor rows(const at::Tensor& x) { return x.permute({0, 2, 3, 1}).reshape({-1, x.size(1)}); }

  static at::Tensor images(const at::Tensor& rows, at::IntArrayRef like) {
    return rows.view({like[0], like[2], like[3], rows.size(1)}).permute({0, 3, 1, 2});
  }
};

/// The engine's own are not used for them: oneDNN 2.7, which Debian's libtorch calls, now and then waits for ever in
/// the gradient of such weights where there are four channels.
bool is_pointwise(const at::Tensor& x, const Convolution& convolution) {
  return convolution.padding == 0 && convolution.weight.size(2) == 1 && convolution.weight.size(3) == 1 && x.is_cpu() &&
         x.scalar_type() == at::kFloat && !bf16_is_on(x.device());
}

/// bf16 on a processor that has none: the products of bf16 numbers are exact in fp32, so the same sums come out, many
/// times faster than the engine emulates them.
at::Tensor emulate_bf16(const Convolution& convolution, const at::Tensor& x) {
  const auto rounded = [](const at::Tensor& t) { return t.to(at::kBFloat16).to(at::kFloat); };
  const PrecisionScope fp32(Precision::fp32, at::kCPU);
  return Convolution{rounded(convolution.weight), convolution.stride, convolution.padding}(rounded(x))
      .to(at::kBFloat16);
}

}  // namespace

at::Tensor Convolution::operator()(const at::Tensor& x) const {
  if (x.is_cpu() && bf16_is_on(x.device()) && !cpu_has_bf16()) return emulate_bf16(*this, x);
  if (is_pointwise(x, *this))
    return SecondDerivatives::are_wanted() ? PointwiseConvolution::product(x, weight, stride)
                                           : PointwiseConvolution::apply(x, weight, stride);
  if (fits_winograd(x, *this))
    return at::GradMode::is_enabled() ? WinogradConvolution::apply(x, weight) : forward_product(x, weight);
  if (fits_bf16(x, *this))
    return at::GradMode::is_enabled() ? Bf16Convolution::apply(x, weight, stride, padding)[0]
                                      : Bf16Convolution::product(x, {weight.to(at::kBFloat16), stride, padding});
  return at::conv2d(x, weight, {}, {stride, stride}, {padding, padding});
}

BesideOf<at::Tensor> Convolution::beside(const at::Tensor& x) const {
  if (!at::GradMode::is_enabled() || !fits_bf16(x, *this)) return {(*this)(x), x};
  const auto both = Bf16Convolution::apply(x, weight, stride, padding);
  return {both[0], both[1]};
}

}  // namespace regroup
