#pragma once

#include <cstdint>
#include <span>

#include "regroup/core/random.h"
#include "regroup/rml/draw_scratch.h"

namespace regroup {

/// A group is a byte, so that 32 samples are handled in one instruction.
inline constexpr std::uint8_t no_group = 255;
inline constexpr int most_groups = 128;

/// Step 4: gives each of the groups * per_group drawn samples a random group, `per_group` to each. All ways to split
/// them are equally likely.
void split_into_groups(Stream& stream, int groups, std::uint32_t per_group, DrawScratch& scratch);

/// The mean loss of each group.
void group_means(const DrawScratch& scratch, std::uint32_t per_group, std::span<double> means);

/// The median loss of each group; of an even number the mean of the two in the middle.
void group_medians(const DrawScratch& scratch, std::uint32_t per_group, std::span<double> medians);

}  // namespace regroup
