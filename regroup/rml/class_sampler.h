#pragma once

#include <span>
#include <variant>
#include <vector>

#include "regroup/rml/alias_sampler.h"
#include "regroup/rml/race_sampler.h"

namespace regroup {

/// A sample that is drawn: its position among the members of its class, and its group.
struct Drawn {
  std::uint32_t position;
  std::uint8_t group;
};

/// How samples are drawn; both ways give exactly the distribution of step 3.
enum class DrawAlgorithm {
  automatic,  ///< the cheaper one
  alias,      ///< O(n*k), while repeats are rare
  race,       ///< O(m), whatever the weights are
};

/// Draws from the samples of one class for their losses: steps 2 to 4.
class ClassSampler {
 public:
  /// groups * per_group is at most losses.size() and at least 1.
  ClassSampler(std::span<const float> losses, int groups, int per_group, const SelectionOptions& options,
               DrawAlgorithm algorithm = DrawAlgorithm::automatic);

  DrawAlgorithm algorithm() const;

  /// One draw. means[g] is the mean loss of group g: w_1 .. w_n of step 4.
  void draw_means(Stream& stream, DrawScratch& scratch, std::span<double> means) const;

  /// The same with the median loss of each group.
  void draw_medians(Stream& stream, DrawScratch& scratch, std::span<double> medians) const;

  /// One draw: who is drawn, and the group.
  std::vector<Drawn> draw(Stream& stream, DrawScratch& scratch) const;

 private:
  void draw_groups(Stream& stream, DrawScratch& scratch) const;

  int groups_;
  std::uint32_t per_group_;
  std::variant<AliasSampler, RaceSampler> sampler_;
};

}  // namespace regroup
