#include "regroup/core/random.h"

#include <cmath>
#include <numbers>

#include "regroup/core/philox.h"
#include "regroup/core/simd.h"

namespace regroup {
namespace {

const auto philox_batches = REGROUP_WIDEST_KERNEL(philox_batches);

}  // namespace

void Stream::refill() {
  philox_batches({block_, index_, epoch_, purpose_}, seed_, 1, batch_.data());
  block_ += 8;
  used_ = 0;
}

void Stream::fill(std::span<std::uint32_t> words) {
  const std::size_t batches = (words.size() + batch_words - 1) / batch_words;
  philox_batches({block_, index_, epoch_, purpose_}, seed_, batches, words.data());
  block_ += static_cast<std::uint32_t>(8 * batches);
  used_ = batch_words;
}

double Stream::normal() {
  // Box-Muller; 1 - u keeps the logarithm away from 0. The second value is dropped, so that a stream has no hidden
  // state.
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

}  // namespace regroup
