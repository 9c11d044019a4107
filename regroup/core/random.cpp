#include "regroup/core/random.h"

#include <cmath>
#include <numbers>

#include "regroup/core/philox.h"
#include "regroup/core/simd.h"

namespace regroup {
namespace {

const auto philox_batches = REGROUP_BEST_KERNEL(philox_batches);

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

std::uint32_t Stream::below(std::uint32_t count) {
  // Lemire's method: the high word of a product, rejecting the few low words that would favour some values.
  std::uint64_t product = static_cast<std::uint64_t>((*this)()) * count;
  if (static_cast<std::uint32_t>(product) < count) {
    const std::uint32_t bias = -count % count;
    while (static_cast<std::uint32_t>(product) < bias) product = static_cast<std::uint64_t>((*this)()) * count;
  }
  return static_cast<std::uint32_t>(product >> 32);
}

double Stream::normal() {
  // Box-Muller; 1 - u keeps the logarithm away from 0. The second value is dropped, so that a stream has no hidden
  // state.
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

}  // namespace regroup
