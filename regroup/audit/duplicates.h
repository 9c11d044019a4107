#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "regroup/audit/neighbours.h"
#include "regroup/audit/thumbnail.h"

namespace regroup {

struct DuplicateOptions {
  std::size_t candidates = 10;  ///< that a picture is compared with, and its mirror image with as many
  int threads = 1;
};

/// The group of each sample that shows the same picture as others: copies that were encoded again, resized, mirrored,
/// brightened a little, or cropped by very little. -1: no other shows the same. Groups are numbered by their first
/// member, from 0.
///
/// Pictures are compared with their nearest neighbours among the thumbnails and, where there are features, among those,
/// one row per sample. Neighbours in features alone are no duplicates: a network that has learnt its classes puts all
/// samples of a class together. So the details of the thumbnails decide. Flat pictures are in no group: all look alike.
std::vector<std::int32_t> duplicate_groups(std::span<const Thumbnail> thumbnails, const FeatureRows& features,
                                           const DuplicateOptions& options);

/// The group of each row that is the same as others up to the rounding of its numbers, numbered likewise.
std::vector<std::int32_t> equal_row_groups(const FeatureRows& rows, int threads);

}  // namespace regroup
