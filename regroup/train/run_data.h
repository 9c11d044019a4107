#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "regroup/core/settings.h"
#include "regroup/data/dataset.h"
#include "regroup/data/split.h"
#include "regroup/methods/training_set.h"
#include "regroup/noise/noise.h"
#include "regroup/train/observer.h"

namespace regroup {

/// The data of a run: the images, the labels that it learns from, and which samples are for what.
struct RunData {
  Dataset dataset;
  std::vector<std::int32_t> observed;  ///< by position in the training images
  std::vector<std::int32_t> clean;     ///< -1 where unknown; empty where all are
  Split split;
  std::vector<std::uint32_t> trusted;  ///< positions
  Normalisation normalisation;
  double limit_share = 1;  ///< the share of the training images that `limit` has left

  /// The share of wrong labels among the training samples whose true label is known; not a number if none is.
  double noise_rate() const;
  bool is_wrong(std::uint32_t position) const {
    return !clean.empty() && clean[position] >= 0 && clean[position] != observed[position];
  }
  bool is_right(std::uint32_t position) const { return !clean.empty() && clean[position] == observed[position]; }
};

/// Chooses the side of image files where the settings do not say it.
using ChooseSide = std::function<int(const ImageSurvey&)>;

/// The images and labels that a run with these settings reads, before any label is replaced. Whoever needs a run's data
/// loads it here, so that an index means the same image to all.
/// `texts`: with those that vectors were made of, where the data has them.
Dataset load_run_images(const Settings& settings, int threads, Observer& observer, const ChooseSide& choose_side = {},
                        bool texts = false);

/// The labels of its training images, made wrong by the settings `noise` and `seed`.
NoisyLabels make_run_noise(const Settings& settings, const Dataset& dataset, int threads);

/// Samples as what noise that depends on them looks at: their bytes from 0 to 255 as they are, which is what the
/// published generator of instance-dependent noise is fed, or the numbers of vectors.
Features sample_features(std::shared_ptr<const SampleSource> source);

/// `normalisation` is given where it is known already: a run that is resumed has the one that it began with.
RunData load_run_data(const Settings& settings, int threads, Observer& observer,
                      const std::optional<Normalisation>& normalisation = {}, const ChooseSide& choose_side = {},
                      bool texts = false);

/// What the method may see of it.
TrainingSet training_set(const RunData& data);

/// `index,label[,clean][,path]`, a line per image: the run's own record of its labels, as --labels reads it.
std::string labels_csv(const RunData& data);

}  // namespace regroup
