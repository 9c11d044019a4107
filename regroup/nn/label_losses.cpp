#include "regroup/nn/label_losses.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <span>

#include "regroup/core/softmax.h"

namespace regroup {
namespace {

at::Tensor by_the_engine(const at::Tensor& logits, const at::Tensor& labels) {
  return -at::log_softmax(logits, 1).gather(1, labels.unsqueeze(1)).squeeze(1);
}

std::span<float> row_of(const at::Tensor& matrix, std::int64_t row) {
  return {matrix.data_ptr<float>() + row * matrix.size(1), static_cast<std::size_t>(matrix.size(1))};
}

/// Few numbers are not worth a second thread.
template <class Body>
void for_rows(const at::Tensor& matrix, const Body& body) {
  constexpr std::int64_t worth_it = 8192;
  at::parallel_for(0, matrix.size(0), std::max<std::int64_t>(worth_it / matrix.size(1), 1),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) body(i);
                   });
}

class LabelLosses : public torch::autograd::Function<LabelLosses> {
 public:
  // The names are the engine's: it looks for them.
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& logits, const at::Tensor& labels) {
    const at::Tensor losses = at::empty({logits.size(0)}, logits.options());
    const at::Tensor probabilities = at::empty_like(logits);
    const auto* const label = labels.data_ptr<std::int64_t>();
    for_rows(logits, [&](std::int64_t i) {
      losses.data_ptr<float>()[i] =
          softmax(row_of(logits, i), static_cast<std::size_t>(label[i]), row_of(probabilities, i)).loss;
    });
    ctx->save_for_backward({logits, labels, probabilities});
    return losses;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 const torch::autograd::variable_list& gradients) {
    const auto saved = ctx->get_saved_variables();
    const at::Tensor &logits = saved[0], &labels = saved[1], &probabilities = saved[2];
    // Where second derivatives are asked for, the first ones are made of operations that have them.
    if (at::GradMode::is_enabled()) {
      const at::Tensor hits = at::zeros_like(logits).scatter(1, labels.unsqueeze(1), 1.0);
      return {(at::softmax(logits, 1) - hits) * gradients[0].unsqueeze(1), {}};
    }
    const at::Tensor dlosses = gradients[0].contiguous();
    at::Tensor dlogits = at::empty_like(logits);
    const auto* const label = labels.data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < logits.size(0); ++i)
      cross_entropy_gradient(row_of(probabilities, i), static_cast<std::size_t>(label[i]), dlosses.data_ptr<float>()[i],
                             row_of(dlogits, i));
    return {dlogits, {}};
  }
};

}  // namespace

at::Tensor label_losses(const at::Tensor& logits, const at::Tensor& labels) {
  if (!logits.is_cpu() || logits.scalar_type() != at::kFloat || logits.size(1) < 2)
    return by_the_engine(logits, labels);
  return LabelLosses::apply(logits.contiguous(), labels.contiguous());
}

}  // namespace regroup
