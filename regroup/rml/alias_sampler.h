#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "regroup/core/random.h"
#include "regroup/rml/alias_table.h"
#include "regroup/rml/draw_scratch.h"
#include "regroup/rml/selection.h"

namespace regroup {

/// Draws from one class one after another with replacement by an alias table (Walker 1977, Vose 1991) and rejects
/// repeats, which leaves a sequential draw without replacement. O(n*k) as long as repeats are rare. Twelve bytes a
/// sample.
class AliasSampler {
 public:
  AliasSampler(std::span<const float> losses, int groups, int per_group, const SelectionOptions& options);

  /// Steps 3 and 4: groups * per_group different samples, split at random. The draw is left in `scratch`.
  void draw(Stream& stream, DrawScratch& scratch) const;

  /// The sum of the losses of each group of the draw in `scratch`.
  void group_sums(const DrawScratch& scratch, std::span<double> sums) const;

  static std::vector<Drawn> drawn(const DrawScratch& scratch);

 private:
  int groups_;
  std::uint32_t per_group_;
  AliasTable table_;
  std::vector<float> losses_;
};

}  // namespace regroup
