#include "regroup/rml/alias_sampler.h"

#include <cmath>

#include "regroup/rml/groups.h"

namespace regroup {
namespace {

__extension__ using Wide = unsigned __int128;

}  // namespace

AliasSampler::AliasSampler(std::span<const float> losses, int groups, int per_group, const SelectionOptions& options)
    : groups_(groups),
      per_group_(static_cast<std::uint32_t>(per_group)),
      cells_(losses.size()),
      losses_(losses.begin(), losses.end()) {
  // Vose's construction: a cell with less than its share is topped up by one sample that has more than its share.
  std::vector<double> share = log_selection_probabilities(losses, options);
  const auto cells = static_cast<double>(share.size());
  for (double& log_probability : share) log_probability = std::exp(log_probability) * cells;
  std::vector<std::uint32_t> poor, rich;
  for (std::uint32_t i = 0; i < share.size(); ++i) (share[i] < 1 ? poor : rich).push_back(i);
  while (!poor.empty() && !rich.empty()) {
    const std::uint32_t small = poor.back();
    const std::uint32_t large = rich.back();
    poor.pop_back();
    cells_[small] = {static_cast<std::uint32_t>(share[small] * 0x1p32), large};
    share[large] -= 1 - share[small];
    if (share[large] < 1) {
      rich.pop_back();
      poor.push_back(large);
    }
  }
  // What is left has its full share, up to rounding.
  for (const auto& rest : {poor, rich})
    for (const std::uint32_t i : rest) cells_[i] = {0, i};
}

std::uint32_t AliasSampler::pick(std::uint64_t bits) const {
  // The cell is the whole part of bits / 2^64 * cells, the coin is its fraction.
  const auto product = static_cast<Wide>(bits) * cells_.size();
  const auto cell = static_cast<std::uint32_t>(product >> 64);
  const auto coin = static_cast<std::uint32_t>(product >> 32);
  return coin < cells_[cell].keep ? cell : cells_[cell].alias;
}

void AliasSampler::draw(Stream& stream, DrawScratch& scratch) const {
  const std::size_t wanted = static_cast<std::size_t>(groups_) * per_group_;
  if (scratch.seen.size() < losses_.size()) scratch.seen.resize(losses_.size(), 0);
  scratch.drawn.resize(wanted);
  scratch.group_of.resize(wanted);
  scratch.sizes.fill(0);
  scratch.random.resize(Stream::batch_words);

  std::size_t count = 0;
  while (count < wanted) {
    stream.fill(scratch.random);
    for (std::size_t i = 0; i < Stream::batch_words && count < wanted; i += 2) {
      const std::uint32_t position = pick(static_cast<std::uint64_t>(scratch.random[i]) << 32 | scratch.random[i + 1]);
      // Written always and counted where it is new: no branch to mispredict.
      scratch.drawn[count] = position;
      count += 1 - scratch.seen[position];
      scratch.seen[position] = 1;
    }
  }
  for (const std::uint32_t position : scratch.drawn) scratch.seen[position] = 0;

  scratch.random.resize((wanted / 4 / Stream::batch_words + 1) * Stream::batch_words);
  stream.fill(scratch.random);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(scratch.random.data());
  for (std::size_t i = 0; i < wanted; ++i) {
    scratch.group_of[i] = group_of_byte(bytes[i], groups_);
    ++scratch.sizes[scratch.group_of[i]];
  }
  balance_groups(scratch.sizes, groups_, per_group_,
                 [&]() -> std::uint8_t& { return scratch.group_of[stream.below(static_cast<std::uint32_t>(wanted))]; });
}

void AliasSampler::group_sums(const DrawScratch& scratch, std::span<double> sums) const {
  for (double& sum : sums) sum = 0;
  for (std::size_t i = 0; i < scratch.drawn.size(); ++i) sums[scratch.group_of[i]] += losses_[scratch.drawn[i]];
}

std::vector<Drawn> AliasSampler::drawn(const DrawScratch& scratch) const {
  std::vector<Drawn> result;
  for (std::size_t i = 0; i < scratch.drawn.size(); ++i) result.push_back({scratch.drawn[i], scratch.group_of[i]});
  return result;
}

}  // namespace regroup
