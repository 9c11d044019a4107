#include "regroup/rml/groups.h"

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

  std::array<std::uint32_t, Stream::batch_words> words;
  std::array<std::uint32_t, Stream::batch_words> picked;
  while (next_small()) {
    // Most picks are in no group or in one that is not too large, and stay so: they are passed over without a branch.
    stream.fill(words);
    std::size_t count = 0;
    for (const std::uint32_t word : words) {
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
