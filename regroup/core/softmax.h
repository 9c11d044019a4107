#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace regroup {

/// What a row of logits says about a label.
struct LabelScore {
  float loss;              ///< the cross-entropy of the label, at least 0
  float margin;            ///< the lead of its logit over the best other
  std::int32_t likeliest;  ///< the first of the largest logits
};

/// Probabilities of a row of logits, two or more. Log-probabilities are logits, too.
LabelScore softmax(std::span<const float> logits, std::size_t label, std::span<float> probabilities);

/// The gradient of a cross-entropy, whose own is `factor`: (probabilities - 1 at the label) * factor.
void cross_entropy_gradient(std::span<const float> probabilities, std::size_t label, float factor,
                            std::span<float> gradient);

}  // namespace regroup
