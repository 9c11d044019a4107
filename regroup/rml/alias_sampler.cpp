#include "regroup/rml/alias_sampler.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace regroup {
namespace {

AliasTable table_of(std::span<const float> losses, const SelectionOptions& options) {
  std::vector<double> odds = log_selection_probabilities(losses, options);
  for (double& log_probability : odds) log_probability = std::exp(log_probability);
  return AliasTable(odds);
}

}  // namespace

AliasSampler::AliasSampler(std::span<const float> losses, std::size_t count, const SelectionOptions& options)
    : count_(count), table_(table_of(losses, options)), losses_(losses.begin(), losses.end()) {}

void AliasSampler::draw(Stream& stream, DrawScratch& scratch) const {
  if (scratch.seen.size() * 64 < losses_.size()) scratch.seen.resize(losses_.size() / 64 + 1, 0);
  scratch.drawn.resize(count_);
  scratch.losses.resize(draw_room(count_));

  constexpr std::size_t batch = 256;
  std::array<std::uint32_t, batch> picked;
  scratch.random.resize(2 * batch);
  std::size_t count = 0;
  while (count < count_) {
    const std::size_t tries = std::min(batch, count_ - count);
    stream.fill(std::span(scratch.random).first(2 * tries));
    // A loop of its own: in a large class every pick waits for memory, and this way many wait together.
    for (std::size_t i = 0; i < tries; ++i)
      picked[i] = table_.pick(static_cast<std::uint64_t>(scratch.random[2 * i]) << 32 | scratch.random[2 * i + 1]);
    for (std::size_t i = 0; i < tries; ++i) {
      // Written always and counted where it is new: no branch to mispredict.
      std::uint64_t& seen = scratch.seen[picked[i] / 64];
      const std::uint64_t bit = std::uint64_t{1} << picked[i] % 64;
      scratch.drawn[count] = picked[i];
      count += (seen & bit) == 0;
      seen |= bit;
    }
  }
  for (std::size_t i = 0; i < count_; ++i) {
    const std::uint32_t position = scratch.drawn[i];
    scratch.seen[position / 64] = 0;
    scratch.losses[i] = losses_[position];
  }
}

}  // namespace regroup
