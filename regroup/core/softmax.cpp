#include "regroup/core/softmax.h"

#include <cmath>
#include <stdexcept>

#include "regroup/core/simd.h"
#include "regroup/core/softmax_kernels.h"

namespace regroup {
namespace {

const auto softmax_row = REGROUP_WIDEST_KERNEL(softmax_row);
const auto scale_row = REGROUP_WIDEST_KERNEL(scale_row);

}  // namespace

LabelScore softmax(std::span<const float> logits, std::size_t label, std::span<float> probabilities) {
  if (logits.size() < 2 || label >= logits.size() || probabilities.size() != logits.size())
    throw std::invalid_argument("softmax: a row has two logits or more, and the label is one of them");
  const SoftmaxSums sums = softmax_row(logits.data(), logits.size(), label, probabilities.data());
  const float own = logits[label];
  const bool label_leads = own > sums.largest_other || (own == sums.largest_other && label < sums.where_other);
  return {std::log(sums.sum) + (sums.largest - own), own - sums.largest_other,
          static_cast<std::int32_t>(label_leads || sums.where_other == logits.size() ? label : sums.where_other)};
}

void cross_entropy_gradient(std::span<const float> probabilities, std::size_t label, float factor,
                            std::span<float> gradient) {
  if (label >= probabilities.size() || gradient.size() != probabilities.size())
    throw std::invalid_argument("cross_entropy_gradient: sizes differ");
  scale_row(probabilities.data(), probabilities.size(), factor, gradient.data());
  gradient[label] = (probabilities[label] - 1) * factor;
}

}  // namespace regroup
