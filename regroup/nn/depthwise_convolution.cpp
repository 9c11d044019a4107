#include "regroup/nn/depthwise_convolution.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <span>
#include <stdexcept>

#include "regroup/nn/engine.h"
#include "regroup/nn/engine_threads.h"
#include "regroup/nn/kernels/depthwise.h"
#include "regroup/nn/precision.h"
#include "regroup/nn/second_derivatives.h"

namespace regroup {
namespace {

DepthwiseShape shape_of(const at::Tensor& x, const at::Tensor& weight, std::int64_t stride) {
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  return {size(x.size(0)), size(x.size(2)), size(x.size(3)), size(x.size(1)), size(weight.size(2)), size(stride)};
}

template <class T>
std::span<T> values(const at::Tensor& x) {
  return {static_cast<T*>(x.data_ptr()), static_cast<std::size_t>(x.numel())};
}

/// Calls body with a value of the type in which the tensor's numbers are stored.
template <class Body>
void with_type_of(const at::Tensor& x, const Body& body) {
  if (x.scalar_type() == at::kFloat) {
    body(float{});
  } else {
    body(std::uint16_t{});
  }
}

DepthwiseScratch& scratch() {
  thread_local DepthwiseScratch kept;
  return kept;
}

class OwnDepthwiseConvolution : public torch::autograd::Function<OwnDepthwiseConvolution> {
 public:
  static at::Tensor product(const at::Tensor& x, const at::Tensor& weight, std::int64_t stride) {
    const DepthwiseShape shape = shape_of(x, weight, stride);
    at::Tensor y = at::empty({x.size(0), x.size(1), static_cast<std::int64_t>(shape.out_height()),
                              static_cast<std::int64_t>(shape.out_width())},
                             x.options().memory_format(at::MemoryFormat::ChannelsLast));
    with_type_of(x, [&]<class T>(T) {
      depthwise_forward<T>(shape, values<const T>(x), values<const float>(weight), values<T>(y), scratch(),
                           engine_threads());
    });
    return y;
  }

  // The names are the engine's: it looks for them.
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                            std::int64_t stride) {
    ctx->save_for_backward({x, weight});
    ctx->saved_data["stride"] = stride;
    ctx->saved_data["needs_dx"] = x.requires_grad();
    ctx->saved_data["needs_dweight"] = weight.requires_grad();
    return product(x, weight, stride);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 const torch::autograd::variable_list& gradients) {
    if (at::GradMode::is_enabled()) throw std::logic_error("the depthwise convolution has first derivatives only");
    const auto saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const at::Tensor dy = gradients[0].to(x.scalar_type()).contiguous(at::MemoryFormat::ChannelsLast);
    const DepthwiseShape shape = shape_of(x, weight, ctx->saved_data["stride"].toInt());
    at::Tensor dx, dweight;
    with_type_of(x, [&]<class T>(T) {
      if (ctx->saved_data["needs_dx"].toBool()) {
        dx = at::empty_like(x);
        depthwise_backward_data<T>(shape, values<const T>(dy), values<const float>(weight), values<T>(dx), scratch(),
                                   engine_threads());
      }
      if (ctx->saved_data["needs_dweight"].toBool()) {
        dweight = at::empty_like(weight);
        depthwise_backward_weights<T>(shape, values<const T>(x), values<const T>(dy), values<float>(dweight), scratch(),
                                      engine_threads());
      }
    });
    return {dx, dweight, {}};
  }
};

/// Where oneDNN is fast: kernels of 3 pixels, of images that are padded alike on both sides. Its gradients of larger
/// ones take two to five times as long as ours.
bool is_fast_in_engine(const at::Tensor& x, const at::Tensor& weight, std::int64_t stride) {
  return weight.size(2) == 3 && stride == 1 && (x.scalar_type() == at::kFloat || cpu_has_bf16());
}

bool is_ours(const at::Tensor& x, const at::Tensor& weight, std::int64_t stride) {
  return x.is_cpu() && !SecondDerivatives::are_wanted() && !is_fast_in_engine(x, weight, stride) &&
         (x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16) && weight.scalar_type() == at::kFloat &&
         weight.is_contiguous() && weight.size(2) == weight.size(3) &&
         x.is_contiguous(at::MemoryFormat::ChannelsLast) && depthwise_possible(shape_of(x, weight, stride));
}

at::Tensor padded_as_tensorflow(const at::Tensor& images, std::int64_t kernel, std::int64_t stride) {
  const auto [top, bottom] = tensorflow_padding(images.size(2), kernel, stride);
  const auto [left, right] = tensorflow_padding(images.size(3), kernel, stride);
  return at::constant_pad_nd(images, {left, right, top, bottom});
}

}  // namespace

TensorflowPadding tensorflow_padding(std::int64_t size, std::int64_t kernel, std::int64_t stride) {
  const std::int64_t total = std::max<std::int64_t>(0, ((size + stride - 1) / stride - 1) * stride + kernel - size);
  return {total / 2, total - total / 2};
}

at::Tensor convolved_as_tensorflow(const Convolution& convolution, const at::Tensor& x) {
  const at::Tensor padded = padded_as_tensorflow(x, convolution.weight.size(2), convolution.stride);
  return Convolution{convolution.weight, convolution.stride, 0}(padded);
}

at::Tensor DepthwiseConvolution::operator()(const at::Tensor& x) const {
  const at::Tensor input = x.is_cpu() && bf16_is_on(x.device()) ? x.to(at::kBFloat16) : x;
  if (is_ours(input, weight, stride))
    return at::GradMode::is_enabled() ? OwnDepthwiseConvolution::apply(input, weight, stride)
                                      : OwnDepthwiseConvolution::product(input, weight, stride);
  if (stride == 1) return at::conv2d(input, weight, {}, 1, weight.size(2) / 2, 1, x.size(1));
  return at::conv2d(padded_as_tensorflow(x, weight.size(2), stride), weight, {}, {stride, stride},
                    at::IntArrayRef{0, 0}, {1, 1}, x.size(1));
}

}  // namespace regroup
