#include "regroup/rml/groups.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "regroup/core/simd.h"
#include "regroup/rml/draw_kernels.h"

namespace regroup {
namespace {

const auto byte_groups = REGROUP_WIDEST_KERNEL(byte_groups);
const auto group_sizes = REGROUP_WIDEST_KERNEL(group_sizes);
const auto group_sums = REGROUP_WIDEST_KERNEL(group_sums);

using Sizes = std::array<std::uint32_t, most_groups>;

/// Moves random members from groups that are too large to groups that are too small, until each has `per_group`.
void balance(Stream& stream, int groups, std::uint32_t per_group, DrawScratch& scratch, Sizes& sizes) {
  // Where the moved ones go: each group that is too small, as often as it misses a member.
  const auto places = static_cast<std::uint32_t>(groups) * per_group;
  constexpr std::size_t at_once = 32;
  scratch.targets.resize(places + at_once);
  std::uint8_t* const targets = scratch.targets.data();
  std::uint32_t surplus = 0, members = 0;
  for (int group = 0; group < groups; ++group) {
    const std::uint32_t size = sizes[static_cast<std::size_t>(group)];
    members += size > per_group ? size : 0;
    const std::uint32_t missing = size < per_group ? per_group - size : 0;
    std::uint32_t i = 0;
    do std::memset(targets + surplus + i, group, at_once);
    while ((i += at_once) < missing);
    surplus += missing;
  }
  if (surplus == 0) return;

  // About as many picks at a time as are needed: each finds a member of a group that is too large with these odds.
  constexpr std::size_t most = 8 * Stream::batch_words;
  const std::size_t needed = std::uint64_t{surplus} * places / members;
  const std::size_t batch = std::min(most, (needed / Stream::batch_words + 1) * Stream::batch_words);
  const std::uint32_t bias = -places % places;  // as in Stream::below

  std::uint8_t* const group_of = scratch.group_of.data();
  std::array<std::uint32_t, most> words;
  std::array<std::uint32_t, most> picked;
  for (std::uint32_t moved = 0; moved < surplus;) {
    // Many picks are in a group that is not too large, and stay so: they are passed over without a branch.
    stream.fill(std::span(words).first(batch));
    std::size_t count = 0;
    for (const std::uint32_t word : std::span(words).first(batch)) {
      const std::uint64_t product = static_cast<std::uint64_t>(word) * places;
      const auto place = static_cast<std::uint32_t>(product >> 32);
      picked[count] = place;
      count += static_cast<std::size_t>(sizes[group_of[place]] > per_group) &
               static_cast<std::size_t>(static_cast<std::uint32_t>(product) >= bias);
    }
    // Some were moved by a pick before, or their group has become small enough: those stay, without a branch too.
    for (std::size_t i = 0; i < count && moved < surplus; ++i) {
      const std::uint8_t group = group_of[picked[i]];
      const std::uint32_t moves = sizes[group] > per_group;
      group_of[picked[i]] = static_cast<std::uint8_t>(group ^ ((group ^ targets[moved]) & -moves));
      sizes[group] -= moves;
      moved += moves;
    }
  }
}

}  // namespace

// Every member gets a group independently of the others and by the same odds, and the ones that are moved are picked
// uniformly, so no step depends on which member is which: all permutations of the members are equally likely, and
// therefore all ways to split them into equal groups are, though a byte makes some groups a little more likely.
void split_into_groups(Stream& stream, int groups, std::uint32_t per_group, DrawScratch& scratch) {
  const std::size_t members = static_cast<std::size_t>(groups) * per_group;
  const std::size_t room = draw_room(members);
  scratch.group_of.resize(room);
  std::array<std::uint32_t, 256> words;
  constexpr std::size_t tile = 4 * words.size();
  for (std::size_t begin = 0; begin < members; begin += tile) {
    const std::size_t count = std::min(tile, room - begin);
    stream.fill(
        std::span(words).first((count / 4 + Stream::batch_words - 1) / Stream::batch_words * Stream::batch_words));
    byte_groups(reinterpret_cast<const std::uint8_t*>(words.data()), groups, count, scratch.group_of.data() + begin);
  }
  std::fill(scratch.group_of.begin() + static_cast<std::ptrdiff_t>(members), scratch.group_of.end(), no_group);
  Sizes sizes;
  group_sizes(scratch.group_of.data(), room, groups, sizes.data());
  balance(stream, groups, per_group, scratch, sizes);
}

void group_means(const DrawScratch& scratch, std::uint32_t per_group, std::span<double> means) {
  group_sums(scratch.group_of.data(), scratch.losses.data(), scratch.group_of.size(), static_cast<int>(means.size()),
             means.data());
  if (!std::all_of(means.begin(), means.end(), [](double sum) { return std::isfinite(sum); })) {
    // The sums of a few floats are floats, and these losses were too large for that.
    std::fill(means.begin(), means.end(), 0);
    for (std::size_t i = 0; i < means.size() * per_group; ++i)
      means[scratch.group_of[i]] += static_cast<double>(scratch.losses[i]);
  }
  for (double& mean : means) mean /= per_group;
}

void group_medians(const DrawScratch& scratch, std::uint32_t per_group, std::span<double> medians) {
  std::vector<std::vector<float>> groups(medians.size());
  for (std::size_t i = 0; i < medians.size() * per_group; ++i) groups[scratch.group_of[i]].push_back(scratch.losses[i]);
  const auto half = static_cast<std::ptrdiff_t>(per_group / 2);
  for (std::size_t group = 0; group < groups.size(); ++group) {
    std::vector<float>& losses = groups[group];
    std::nth_element(losses.begin(), losses.begin() + half, losses.end());
    const auto upper = static_cast<double>(losses[per_group / 2]);
    // The lower one of the two in the middle is the largest of those before.
    medians[group] = per_group % 2 == 1
                         ? upper
                         : (upper + static_cast<double>(*std::max_element(losses.begin(), losses.begin() + half))) / 2;
  }
}

}  // namespace regroup
