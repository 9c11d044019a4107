#include "regroup/rml/alias_sampler.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "regroup/rml/groups.h"

namespace regroup {
namespace {

AliasTable table_of(std::span<const float> losses, const SelectionOptions& options) {
  std::vector<double> odds = log_selection_probabilities(losses, options);
  for (double& log_probability : odds) log_probability = std::exp(log_probability);
  return AliasTable(odds);
}

}  // namespace

AliasSampler::AliasSampler(std::span<const float> losses, int groups, int per_group, const SelectionOptions& options)
    : groups_(groups),
      per_group_(static_cast<std::uint32_t>(per_group)),
      table_(table_of(losses, options)),
      losses_(losses.begin(), losses.end()) {}

void AliasSampler::draw(Stream& stream, DrawScratch& scratch) const {
  const std::size_t wanted = static_cast<std::size_t>(groups_) * per_group_;
  if (scratch.seen.size() * 64 < losses_.size()) scratch.seen.resize(losses_.size() / 64 + 1, 0);
  scratch.drawn.resize(wanted);
  scratch.group_of.resize(wanted);
  std::fill_n(scratch.sizes.begin(), groups_, 0);

  constexpr std::size_t batch = 256;
  std::array<std::uint32_t, batch> picked;
  scratch.random.resize(2 * batch);
  std::size_t count = 0;
  while (count < wanted) {
    const std::size_t tries = std::min(batch, wanted - count);
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
  for (const std::uint32_t position : scratch.drawn) scratch.seen[position / 64] = 0;

  scratch.random.resize((wanted / 4 / Stream::batch_words + 1) * Stream::batch_words);
  stream.fill(scratch.random);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(scratch.random.data());
  for (std::size_t i = 0; i < wanted; ++i) {
    scratch.group_of[i] = group_of_byte(bytes[i], groups_);
    ++scratch.sizes[scratch.group_of[i]];
  }
  balance_groups(scratch.group_of, scratch.sizes, groups_, per_group_, stream);
}

void AliasSampler::group_sums(const DrawScratch& scratch, std::span<double> sums) const {
  for (double& sum : sums) sum = 0;
  for (std::size_t i = 0; i < scratch.drawn.size(); ++i)
    sums[scratch.group_of[i]] += static_cast<double>(losses_[scratch.drawn[i]]);
}

std::vector<Drawn> AliasSampler::drawn(const DrawScratch& scratch) {
  std::vector<Drawn> result;
  for (std::size_t i = 0; i < scratch.drawn.size(); ++i) result.push_back({scratch.drawn[i], scratch.group_of[i]});
  return result;
}

}  // namespace regroup
