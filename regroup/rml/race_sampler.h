#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "regroup/core/random.h"
#include "regroup/rml/alias_table.h"
#include "regroup/rml/draw_scratch.h"
#include "regroup/rml/selection.h"

namespace regroup {

/// What decides how fast a race is, never what it gives.
struct RaceTuning {
  /// The race is stopped that many standard deviations before the expected end, so that nearly always too few have
  /// arrived.
  double margin = 2.6;
  /// Tries, as a share of the class, to draw those that are missing one by one.
  double tries = 1;
};

/// Draws from one class by an exponential race: every sample arrives at the time -log(1 - u) / w, and the first
/// `count` are drawn. O(m), but with little work a sample:
///
/// 1. The race is stopped at a time at which nearly `count` have arrived. Who has arrived is one comparison of a random
///    byte, 32 samples an instruction; for one sample in 256 the byte is a tie that further bits decide.
/// 2. A race has no memory: those that are missing are drawn one by one from the rest with the same weights. Light
///    samples come from an alias table, repeats rejected; heavy ones that are late, so few that they can be listed,
///    from that list.
///
/// Where that is not how it goes, the arrival times themselves are computed: of all who have arrived where they are too
/// many, or of all others where drawing one by one takes too long.
class RaceSampler {
 public:
  RaceSampler(std::span<const float> losses, std::size_t count, const SelectionOptions& options,
              const RaceTuning& tuning = {});

  /// Step 3: `count` different samples. Their losses are left in `scratch`.
  void draw(Stream& stream, DrawScratch& scratch) const;

  /// Who they are, in the order of their losses.
  static std::vector<std::uint32_t> drawn(const DrawScratch& scratch);

 private:
  std::int64_t look_closer(Stream& stream, DrawScratch& scratch) const;
  void keep_the_first(Stream& stream, DrawScratch& scratch, std::int64_t surplus) const;
  std::int64_t draw_one_by_one(Stream& stream, DrawScratch& scratch, std::int64_t missing) const;
  void race_on(Stream& stream, DrawScratch& scratch, std::int64_t missing) const;
  double exponent(std::uint32_t position) const;  ///< the weight is exp(-this)
  double arrivals(std::uint32_t position) const;  ///< arrived at the stop with probability 1 - exp(-this)

  std::int64_t count_;
  std::uint32_t samples_;
  SelectionOptions options_;
  std::int64_t most_tries_;
  double log_stop_;                  ///< the logarithm of the time at which the race is stopped
  std::vector<float> losses_;        ///< padded to whole vectors, as the bytes are
  std::vector<std::uint8_t> sure_;   ///< 256 times the probability to have arrived, rounded down
  std::vector<std::uint8_t> heavy_;  ///< 255 where a sample is not in the alias table, else 0
  std::vector<double> rest_;         ///< what was rounded off: the probability that a tie has arrived
  AliasTable light_;
  double light_sum_ = 0;
};

}  // namespace regroup
