#pragma once

#include <array>
#include <cstddef>

#include "regroup/audit/thumbnail.h"

namespace regroup {

/// The edges and textures of a thumbnail: luminance less its surroundings, with the mean 0. The outlines that many
/// pictures of a class share weigh less in it.
struct Detail {
  static constexpr std::size_t side = Thumbnail::side;

  std::array<float, side * side> values{};
  float energy = 0;  ///< the sum of squares

  /// Whether there is too little to compare: noise would decide.
  bool flat() const;
};

Detail detail_of(const Thumbnail& thumbnail);
Detail mirrored(const Detail& detail);

/// The share of the detail of one picture that the other one does not explain, from 0 (a copy) to 1: the residual of
/// the least-squares fit of one by the other, its Laplacian and its two derivatives, so that a copy may be brighter or
/// darker, sharper or softer, and shifted by a part of a pixel. The better of both directions. 1 if a picture is flat
/// or the contrast differs greatly.
double unexplained(const Detail& left, const Detail& right);

/// How far the colours of two pictures lie apart, as the root of the mean square, in levels of 0 to 255.
double colour_distance(const Thumbnail& left, const Thumbnail& right, bool mirror);

}  // namespace regroup
