#pragma once

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

/// Draws from one class by an exponential race: every sample arrives at the time -log(1 - u) / w, and the first n*k are
/// drawn. O(m), but with little work a sample:
///
/// 1. The race is stopped at a time at which nearly n*k have arrived. Who has arrived is one comparison of a random
/// byte, 32
///    samples an instruction; for one sample in 256 the byte is a tie that further bits decide.
/// 2. A race has no memory: those that are missing are drawn one by one from the rest with the same weights. Light
/// samples come
///    from an alias table, repeats rejected; heavy ones that are late, so few that they can be listed, from that list.
///
/// Where that is not how it goes, the arrival times themselves are computed: of all who have arrived where they are too
/// many, or of all others where drawing one by one takes too long.
class RaceSampler {
 public:
  RaceSampler(std::span<const float> losses, int groups, int per_group, const SelectionOptions& options,
              const RaceTuning& tuning = {});

  /// Steps 3 and 4: groups * per_group different samples, split at random. The draw is left in `scratch`.
  void draw(Stream& stream, DrawScratch& scratch) const;

  /// The sum of the losses of each group of the draw in `scratch`.
  void group_sums(const DrawScratch& scratch, std::span<double> sums) const;

  std::vector<Drawn> drawn(const DrawScratch& scratch) const;

 private:
  struct RandomBytes {
    std::uint8_t for_arrival, for_group;
  };

  RandomBytes bytes_of(const DrawScratch& scratch, std::uint32_t position) const;
  void look_closer(Stream& stream, DrawScratch& scratch) const;
  std::int64_t missing(const DrawScratch& scratch) const;
  void keep_the_first(Stream& stream, DrawScratch& scratch) const;
  void draw_one_by_one(Stream& stream, DrawScratch& scratch) const;
  void race_on(Stream& stream, DrawScratch& scratch) const;
  void join(DrawScratch& scratch, std::uint32_t position) const;
  double exponent(std::uint32_t position) const;  ///< the weight is exp(-this)
  double arrivals(std::uint32_t position) const;  ///< arrived at the stop with probability 1 - exp(-this)

  int groups_;
  std::uint32_t per_group_;
  std::uint32_t samples_;
  SelectionOptions options_;
  std::int64_t most_tries_;
  double log_stop_;                  ///< the logarithm of the time at which the race is stopped
  float scale_ = 1;                  ///< of losses_, so that their sums stay within floats
  std::vector<float> losses_;        ///< padded to whole vectors, as the bytes are
  std::vector<std::uint8_t> sure_;   ///< 256 times the probability to have arrived, rounded down
  std::vector<std::uint8_t> heavy_;  ///< 255 where a sample is not in the alias table, else 0
  std::vector<double> rest_;         ///< what was rounded off: the probability that a tie has arrived
  AliasTable light_;
  double light_sum_ = 0;
};

}  // namespace regroup
