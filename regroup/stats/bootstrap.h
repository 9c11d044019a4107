#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "regroup/core/random.h"

namespace regroup {

/// Which test images two methods got right: [seed][image], 1 for right and 0 for wrong. Place s of both is the same
/// seed; where one method has more seeds, those that both have count.
struct PairedOutcomes {
  std::vector<std::vector<std::uint8_t>> first;
  std::vector<std::vector<std::uint8_t>> second;
};

struct BootstrapOptions {
  int resamples = 2000;
  double level = 0.95;
};

/// The accuracy of the first method less that of the second, as shares of 1, and where it lies but for chance.
struct AccuracyDifference {
  double value = 0;
  double low = 0;
  double high = 0;
  std::size_t seeds = 0;  ///< that both methods have

  bool beyond_chance() const { return low > 0 || high < 0; }
};

/// A percentile bootstrap: each resample draws seeds and, independently of them, images with replacement, the same
/// images for all seeds. So the interval is about other seeds and other test images. It errs on the wide side where a
/// network's mistakes are mostly luck, and on the narrow side where few seeds differ much: one seed shows nothing of
/// that.
///
///   const auto gain = bootstrap_difference(outcomes, Stream(seed, purpose));
///   if (gain.beyond_chance()) ...
///
/// Throws UserError where the numbers of images differ, or there are no seeds or images.
AccuracyDifference bootstrap_difference(const PairedOutcomes& outcomes, const Stream& stream,
                                        const BootstrapOptions& options = {});

}  // namespace regroup
