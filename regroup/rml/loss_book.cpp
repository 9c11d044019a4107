#include "regroup/rml/loss_book.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "regroup/core/error.h"

namespace regroup {

void LossBook::record(std::span<const std::uint32_t> samples, std::span<const float> losses) {
  if (samples.size() != losses.size())
    throw std::invalid_argument(fmt::format("{} samples with {} losses", samples.size(), losses.size()));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i] >= losses_.size())
      throw std::out_of_range(fmt::format("sample {} in a book of {}", samples[i], losses_.size()));
    if (!std::isfinite(losses[i]) || losses[i] < 0)
      throw UserError(fmt::format("the loss of sample {} is {}; try a lower learning rate", samples[i], losses[i]));
    losses_[samples[i]] = losses[i];
    fresh_[samples[i]] = true;
  }
}

void LossBook::merge(const LossBook& other) {
  if (other.size() != size())
    throw std::invalid_argument(fmt::format("a book of {} samples merged into one of {}", other.size(), size()));
  for (std::size_t i = 0; i < losses_.size(); ++i) {
    if (!other.fresh_[i]) continue;
    losses_[i] = other.losses_[i];
    fresh_[i] = true;
  }
}

}  // namespace regroup
