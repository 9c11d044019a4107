#include "regroup/rml/groups.h"

#include <algorithm>
#include <array>

namespace regroup {

void balance_groups(std::span<std::uint8_t> group_of, std::span<std::uint32_t, 256> sizes, int groups,
                    std::uint32_t per_group, Stream& stream) {
  int small = 0;
  const auto next_small = [&] {
    while (small < groups && sizes[static_cast<std::size_t>(small)] >= per_group) ++small;
    return small < groups;
  };
  const auto places = static_cast<std::uint32_t>(group_of.size());
  const std::uint32_t bias = -places % places;  // as in Stream::below

  // About as many picks at a time as are needed: each finds a member of a group that is too large with these odds.
  std::uint32_t surplus = 0, members = 0;
  for (int group = 0; group < groups; ++group) {
    const std::uint32_t size = sizes[static_cast<std::size_t>(group)];
    surplus += size > per_group ? size - per_group : 0;
    members += size > per_group ? size : 0;
  }
  constexpr std::size_t most = 8 * Stream::batch_words;
  const std::size_t needed = members > 0 ? std::uint64_t{surplus} * places / members : 0;
  const std::size_t batch = std::min(most, (needed / Stream::batch_words + 1) * Stream::batch_words);

  std::array<std::uint32_t, most> words;
  std::array<std::uint32_t, most> picked;
  while (next_small()) {
    // Most picks are in no group or in one that is not too large, and stay so: they are passed over without a branch.
    stream.fill(std::span(words).first(batch));
    std::size_t count = 0;
    for (const std::uint32_t word : std::span(words).first(batch)) {
      const std::uint64_t product = static_cast<std::uint64_t>(word) * places;
      const auto place = static_cast<std::uint32_t>(product >> 32);
      picked[count] = place;
      count += static_cast<std::size_t>(sizes[group_of[place]] > per_group) &
               static_cast<std::size_t>(static_cast<std::uint32_t>(product) >= bias);
    }
    for (std::size_t i = 0; i < count && next_small(); ++i) {
      std::uint8_t& group = group_of[picked[i]];
      if (sizes[group] <= per_group) continue;
      --sizes[group];
      group = static_cast<std::uint8_t>(small);
      ++sizes[group];
    }
  }
}

}  // namespace regroup
