#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "regroup/labels/noise_rate_estimate.h"
#include "regroup/labels/transition_fit.h"

namespace regroup {

/// What a sample was for the network whose predictions are judged by.
enum class Footing : std::uint8_t {
  trained_on,  ///< its label was learnt from
  held_out,    ///< its label was not, and is of the same origin: the validation split
};

struct BeliefInput {
  int classes = 0;
  std::span<const std::int32_t> labels;   ///< the given ones
  std::span<const Footing> footing;       ///< of each sample; empty: all are held out
  std::span<const std::uint8_t> trusted;  ///< 1: somebody has verified the label; empty: none is

  std::span<const float> course;  ///< the noise rate after each epoch of the training (rate_of_course); or empty
  std::size_t course_turns = turns_of_network;

  /// Fills in the log-probabilities that are predicted for a sample. Called from several threads.
  std::function<void(std::size_t sample, std::span<float> log_probabilities)> predict;
  int threads = 1;
};

/// What is believed about the label of a sample.
struct Belief {
  float right = 1;              ///< the probability that the given label is the true one: the label score
  std::int32_t likeliest = -1;  ///< the class that is the true one most probably
  std::int32_t other = -1;      ///< the likeliest class beside the given one: the suggestion
  float other_probability = 0;
  float label_probability = 1;  ///< how probable the given label was, whatever the true one
  float vagueness = 0;          ///< the entropy of the prediction, in nats
};

/// A class, and the probability that it is the true one of a sample.
struct LikelyClass {
  std::int32_t label = -1;
  float probability = 0;

  friend bool operator==(const LikelyClass&, const LikelyClass&) = default;
};

/// An estimate, and where it lies with a probability of 95 %.
struct Estimate {
  double value = 0, low = 0, high = 0;
};

/// What is done to the scores of samples, so that those of both footings are comparable: averaged predictions are
/// softer than single ones, and a network favours a label that it was trained on.
struct Adjustment {
  double scale = 1;  ///< of all scores
  double shift = 0;  ///< then added to that of the given label

  void apply(std::span<float> row, std::int32_t label) const;
};

struct Beliefs {
  static constexpr std::size_t most_likely = 9;

  TransitionFit fit;
  Adjustment trained_on, held_out;
  bool has_held_out = false;  ///< there were enough to learn from them
  std::vector<Belief> samples;
  std::size_t likely_each = 0;              ///< classes that are kept of each sample, at most `most_likely`
  std::vector<LikelyClass> likely;          ///< sample after sample, the likeliest first
  Estimate noise_rate;                      ///< the share of wrong labels
  std::vector<Estimate> class_noise_rates;  ///< by given label
  double uncertainty = 0;                   ///< the standard error of the noise rate, beside the luck of single samples
  double doubt = 0;                         ///< the sum of right * (1 - right) over all samples

  /// The likeliest classes of a sample.
  std::span<const LikelyClass> likely_of(std::size_t sample) const {
    return std::span(likely).subspan(sample * likely_each, likely_each);
  }

  /// How many labels of these samples are wrong.
  Estimate expected_wrong(std::span<const std::uint32_t> chosen) const;
};

/// The belief about each label, from what a network predicts and what the labels of all samples show about how they
/// went wrong. There is no parameter that is set for a dataset.
///
/// 1. The noise rate is estimated from the course of the training and from the clearest predictions of samples that
///    were not trained on (noise_rate_estimate.h).
/// 2. The matrix from true to given labels is read from the samples that are predicted most clearly (transition_fit.h);
///    how sharp predictions are, from the likelihood of labels that were not trained on.
/// 3. Bayes: P(true = y | given) is proportional to P(y | image) * T(y, given).
/// 4. The scores of given labels are shifted, for each footing by one amount, until as many labels are believed wrong
///    as the noise rate says. That takes back what the network has memorised.
///
/// Throws UserError that names the first label or prediction that does not fit.
Beliefs believe(const BeliefInput& input);

}  // namespace regroup
