#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "regroup/core/random.h"
#include "regroup/rml/draw_scratch.h"
#include "regroup/rml/selection.h"

namespace regroup {

/// Draws from one class by an exponential race: every sample has the key -log(1 - u) / w, and the n*k smallest keys are
/// drawn. O(m), but with little work a sample. The n*k-th key is nearly always between two bounds that the class knows
/// beforehand, so one byte of u and two comparisons tell for most samples that their key is below both bounds or above
/// both; further random bits and a logarithm are spent on the others only. Where the n*k-th key is not between the
/// bounds after all, every key is computed. Fourteen bytes a sample.
class RaceSampler {
 public:
  /// `margin` is how far the two bounds are from the expected n*k-th key, in standard deviations of the number of keys
  /// below it. It decides about speed only: at 3.3 all keys are computed once in about a thousand draws.
  RaceSampler(std::span<const float> losses, int groups, int per_group, const SelectionOptions& options,
              double margin = 3.3);

  /// Steps 3 and 4: groups * per_group different samples, split at random. The draw is left in `scratch`.
  void draw(Stream& stream, DrawScratch& scratch) const;

  /// The sum of the losses of each group of the draw in `scratch`.
  void group_sums(const DrawScratch& scratch, std::span<double> sums) const;

  std::vector<Drawn> drawn(const DrawScratch& scratch) const;

 private:
  void find_open(Stream& stream, DrawScratch& scratch) const;
  bool settle_open(DrawScratch& scratch) const;
  void settle_all(Stream& stream, DrawScratch& scratch) const;
  void join_group(DrawScratch& scratch, std::uint32_t position, bool drawn) const;

  int groups_;
  std::uint32_t per_group_;
  std::uint32_t samples_;
  SelectionOptions options_;
  double low_key_;   ///< keys up to here belong to the draw for sure
  double high_key_;  ///< keys above are not in the draw
  double buckets_per_key_;
  float scale_ = 1;  ///< of losses_, so that their sums stay within floats
  std::vector<double> inverse_weights_;
  std::vector<float> losses_;        ///< padded to whole vectors, as the bytes are
  std::vector<std::uint8_t> sure_;   ///< 256 times the probability of a key up to low_key_, rounded down
  std::vector<std::uint8_t> maybe_;  ///< the same for high_key_
};

}  // namespace regroup
