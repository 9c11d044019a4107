#pragma once

#include <map>
#include <memory>
#include <optional>

#include "regroup/core/settings.h"
#include "regroup/data/dataset.h"
#include "regroup/train/epoch_time.h"
#include "regroup/train/observer.h"
#include "regroup/train/run_data.h"

namespace regroup {

/// Chooses what a run's settings leave open (`image-size` 0, `epochs` 0) so that the run takes at most about its
/// `budget`, by how fast this machine trains the network. Where nothing is open, nothing is measured.
class Budget {
 public:
  /// `observer` must outlive it.
  Budget(const Settings& settings, Observer& observer);

  /// The side that images of this kind get.
  int choose_side(const ImageSurvey& survey);

  /// The settings with everything decided for the data that was loaded, which is told. They have no budget any more: a
  /// run that is resumed or repeated by its config.toml measures nothing.
  Settings decided(const RunData& data);

 private:
  double left() const;
  /// `from_disk` are samples of the run where they are decoded in each epoch, or null.
  double epoch_seconds(SampleShape shape, int classes, const RunCounts& counts,
                       const std::shared_ptr<const SampleSource>& from_disk);
  Settings settled();

  Settings settings_;
  Observer& observer_;
  std::optional<double> seconds_;  ///< none: there is no budget
  double start_;
  int measured_side_ = 0;
  std::map<int, double> known_;  ///< seconds per epoch by the side of the images
};

}  // namespace regroup
