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

/// Draws from one class one after another with replacement by an alias table (Walker 1977, Vose 1991) and rejects
/// repeats, which leaves a sequential draw without replacement. O(count) as long as repeats are rare. Twelve bytes a
/// sample.
class AliasSampler {
 public:
  AliasSampler(std::span<const float> losses, std::size_t count, const SelectionOptions& options);

  /// Step 3: `count` different samples. Their losses are left in `scratch`.
  void draw(Stream& stream, DrawScratch& scratch) const;

  /// Who they are, in the order of their losses.
  static std::vector<std::uint32_t> drawn(const DrawScratch& scratch) { return scratch.drawn; }

 private:
  std::size_t count_;
  AliasTable table_;
  std::vector<float> losses_;
};

}  // namespace regroup
