#include "regroup/nn/batch_norm.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <stdexcept>
#include <vector>

#include "regroup/core/simd.h"
#include "regroup/nn/kernels/batch_norm_kernels.h"
#include "regroup/nn/second_derivatives.h"

namespace regroup {
namespace {

/// Rows are summed up in so many parts, whatever the number of threads, so that sums do not depend on it.
constexpr std::size_t parts = 64;

/// A tensor of images with the channels last, as a matrix.
struct Matrix {
  explicit Matrix(const at::Tensor& x)
      : rows(static_cast<std::size_t>(x.numel() / x.size(1))), channels(static_cast<std::size_t>(x.size(1))) {}

  std::size_t rows, channels;

  std::size_t part_begin(std::size_t part) const { return rows * part / parts; }
};

template <class Body>
void for_each_part(const Matrix& matrix, const Body& body) {
  at::parallel_for(0, static_cast<std::int64_t>(parts), 1, [&](std::int64_t first, std::int64_t last) {
    for (auto part = static_cast<std::size_t>(first); part < static_cast<std::size_t>(last); ++part)
      body(part, Rows{matrix.part_begin(part), matrix.part_begin(part + 1), matrix.channels});
  });
}

/// Calls `body` with the kernels for the type in which the tensor's values are stored.
template <class Body>
void with_kernels_for(const at::Tensor& x, const Body& body) {
  if (x.scalar_type() == at::kFloat) {
    body(REGROUP_WIDEST_KERNEL(float_batch_norm)());
  } else {
    body(REGROUP_WIDEST_KERNEL(bf16_batch_norm)());
  }
}

template <class T>
T* data(const at::Tensor& x) {
  return x.defined() ? static_cast<T*>(x.data_ptr()) : nullptr;
}

float* floats(const at::Tensor& x) { return x.data_ptr<float>(); }

/// Mean and biased variance of each channel over all rows.
void batch_moments(const at::Tensor& x, const Matrix& m, std::vector<float>& mean, std::vector<float>& variance) {
  std::vector<float> means(parts * m.channels), squares(parts * m.channels);
  with_kernels_for(x, [&]<class T>(const BatchNormKernels<T>& kernels) {
    for_each_part(m, [&](std::size_t part, Rows rows) {
      kernels.moments(rows, data<T>(x), &means[part * m.channels], &squares[part * m.channels]);
    });
  });
  mean.resize(m.channels);
  variance.resize(m.channels);
  for (std::size_t c = 0; c < m.channels; ++c) {
    double count = 0, centre = 0, square = 0;
    for (std::size_t part = 0; part < parts; ++part) {
      const auto more = static_cast<double>(m.part_begin(part + 1) - m.part_begin(part));
      if (more == 0) continue;
      const double shift = static_cast<double>(means[part * m.channels + c]) - centre;
      square += static_cast<double>(squares[part * m.channels + c]) + shift * shift * count * more / (count + more);
      centre += shift * more / (count + more);
      count += more;
    }
    mean[c] = static_cast<float>(centre);
    variance[c] = static_cast<float>(square / count);
  }
}

void follow(const BatchNorm& norm, const std::vector<float>& mean, const std::vector<float>& variance,
            std::size_t rows) {
  const auto momentum = static_cast<float>(norm.momentum);
  const float unbiased = rows > 1 ? static_cast<float>(rows) / static_cast<float>(rows - 1) : 1;
  for (std::size_t c = 0; c < mean.size(); ++c) {
    float& running_mean = floats(norm.running_mean)[c];
    float& running_var = floats(norm.running_var)[c];
    running_mean += momentum * (mean[c] - running_mean);
    running_var += momentum * (variance[c] * unbiased - running_var);
  }
  ++*norm.num_batches_tracked.data_ptr<std::int64_t>();
}

/// y = x * scale + shift is the normalisation.
struct Affine {
  std::vector<float> scale, shift;

  Affine(const BatchNorm& norm, const float* mean, const float* variance) {
    const auto channels = static_cast<std::size_t>(norm.weight.numel());
    scale.resize(channels);
    shift.resize(channels);
    for (std::size_t c = 0; c < channels; ++c) {
      scale[c] = floats(norm.weight)[c] / std::sqrt(variance[c] + static_cast<float>(norm.epsilon));
      shift[c] = floats(norm.bias)[c] - mean[c] * scale[c];
    }
  }
};

at::Tensor apply_affine(const at::Tensor& x, const Affine& affine, Activation activation, const at::Tensor& addend) {
  const Matrix m(x);
  at::Tensor y = at::empty_like(x);
  with_kernels_for(x, [&]<class T>(const BatchNormKernels<T>& kernels) {
    for_each_part(m, [&](std::size_t, Rows rows) {
      kernels.normalise(rows, data<T>(x), data<T>(addend), affine.scale.data(), affine.shift.data(), activation,
                        data<T>(y));
    });
  });
  return y;
}

at::Tensor as_tensor(const std::vector<float>& values) {
  return at::tensor(values, at::TensorOptions().dtype(at::kFloat));
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The fused form where gradients are asked for: with the statistics of the batch, or with those that it has.
class FusedBatchNorm : public torch::autograd::Function<FusedBatchNorm> {
 public:
  // The names are the engine's: it looks for them.
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& /*weight*/,
                            const at::Tensor& /*bias*/, const at::Tensor& maybe_addend, const BatchNorm* norm,
                            Activation activation, bool with_addend, bool training) {
    const at::Tensor addend = with_addend ? maybe_addend : at::Tensor();
    const Matrix m(x);
    std::vector<float> mean, variance;
    if (training) {
      batch_moments(x, m, mean, variance);
      follow(*norm, mean, variance, m.rows);
    } else {
      mean.assign(floats(norm->running_mean), floats(norm->running_mean) + m.channels);
      variance.assign(floats(norm->running_var), floats(norm->running_var) + m.channels);
    }
    const Affine affine(*norm, mean.data(), variance.data());
    at::Tensor y = apply_affine(x, affine, activation, addend);

    std::vector<float> deviation(m.channels);
    for (std::size_t c = 0; c < m.channels; ++c)
      deviation[c] = std::sqrt(variance[c] + static_cast<float>(norm->epsilon));
    // Without an addend x tells what the activation has changed, so the output need not be read again.
    const bool keep_output = activation != Activation::none && with_addend;
    ctx->save_for_backward({x, keep_output ? y : at::Tensor(), as_tensor(mean), as_tensor(deviation),
                            as_tensor(affine.scale), as_tensor(affine.shift)});
    ctx->saved_data["activation"] = static_cast<std::int64_t>(activation);
    ctx->saved_data["addend"] = with_addend;
    ctx->saved_data["training"] = training;
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    if (at::GradMode::is_enabled()) throw std::logic_error("the fused batch normalisation has first derivatives only");
    const auto saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &y = saved[1];
    const float *mean = floats(saved[2]), *deviation = floats(saved[3]), *scale = floats(saved[4]),
                *shift = floats(saved[5]);
    const auto activation = static_cast<Activation>(ctx->saved_data["activation"].toInt());
    const bool changes = activation != Activation::none, with_addend = ctx->saved_data["addend"].toBool();
    const Matrix m(x);
    const at::Tensor dy = gradients[0].to(x.scalar_type()).contiguous(at::MemoryFormat::ChannelsLast);

    std::vector<float> sums(parts * m.channels), dots(parts * m.channels), slope(m.channels), offset(m.channels);
    at::Tensor dweight = at::empty({static_cast<std::int64_t>(m.channels)}, at::kFloat),
               dbias = at::empty_like(dweight);
    at::Tensor dx = at::empty_like(x), daddend = with_addend ? (changes ? at::empty_like(x) : dy) : at::Tensor();
    with_kernels_for(x, [&]<class T>(const BatchNormKernels<T>& kernels) {
      for_each_part(m, [&](std::size_t part, Rows rows) {
        kernels.backward_sums(rows, data<T>(dy), data<T>(x), data<T>(y), scale, shift, mean, activation,
                              &sums[part * m.channels], &dots[part * m.channels]);
      });
      for (std::size_t c = 0; c < m.channels; ++c) {
        double sum = 0, dot = 0;
        for (std::size_t part = 0; part < parts; ++part) {
          sum += static_cast<double>(sums[part * m.channels + c]);
          dot += static_cast<double>(dots[part * m.channels + c]);
        }
        floats(dweight)[c] = static_cast<float>(dot / static_cast<double>(deviation[c]));
        floats(dbias)[c] = static_cast<float>(sum);
        if (!ctx->saved_data["training"].toBool()) continue;  // dx = scale * g
        // dx = scale * (g - mean(g) - (x - mean) / deviation^2 * mean(g * (x - mean)))
        const auto rows = static_cast<double>(m.rows), s = static_cast<double>(scale[c]);
        const double per_x = -s * dot / rows / (static_cast<double>(deviation[c]) * static_cast<double>(deviation[c]));
        slope[c] = static_cast<float>(per_x);
        offset[c] = static_cast<float>(-s * sum / rows - per_x * static_cast<double>(mean[c]));
      }
      for_each_part(m, [&](std::size_t, Rows rows) {
        kernels.backward(rows, data<T>(dy), data<T>(x), data<T>(y), scale, shift, activation, slope.data(),
                         offset.data(), data<T>(dx), changes ? data<T>(daddend) : nullptr);
      });
    });
    return {dx, dweight, dbias, daddend, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

bool can_fuse(const at::Tensor& x, const at::Tensor& addend) {
  if (SecondDerivatives::are_wanted()) return false;
  const auto fits = [](const at::Tensor& t) {
    return t.is_cpu() && (t.scalar_type() == at::kFloat || t.scalar_type() == at::kBFloat16) && t.dim() == 4 &&
           t.size(1) % 8 == 0 && t.is_contiguous(at::MemoryFormat::ChannelsLast);
  };
  return fits(x) && (!addend.defined() ||
                     (fits(addend) && addend.scalar_type() == x.scalar_type() && addend.sizes() == x.sizes()));
}

/// What is frozen needs none, also in training.
bool needs_gradient(std::initializer_list<at::Tensor> tensors) {
  return at::GradMode::is_enabled() && std::any_of(tensors.begin(), tensors.end(), [](const at::Tensor& t) {
           return t.defined() && t.requires_grad();
         });
}

}  // namespace

at::Tensor batch_norm(const at::Tensor& x, const BatchNorm& norm, bool training, Activation activation,
                      const at::Tensor& addend) {
  if (can_fuse(x, addend)) {
    // The engine refuses an undefined tensor here, so that x stands in for an addend that is not there.
    if (training || needs_gradient({x, norm.weight, norm.bias, addend}))
      return FusedBatchNorm::apply(x, norm.weight, norm.bias, addend.defined() ? addend : x, &norm, activation,
                                   addend.defined(), training);
    return apply_affine(x, Affine(norm, floats(norm.running_mean), floats(norm.running_var)), activation, addend);
  }
  if (training) norm.num_batches_tracked.add_(1);
  at::Tensor y = at::batch_norm(x, norm.weight, norm.bias, norm.running_mean, norm.running_var, training, norm.momentum,
                                norm.epsilon, /*cudnn_enabled=*/true);
  if (addend.defined()) y = y + addend;
  if (activation == Activation::relu6) return y.clamp(0, 6);
  return activation == Activation::relu ? y.relu() : y;
}

}  // namespace regroup
