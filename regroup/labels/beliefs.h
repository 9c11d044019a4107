#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "regroup/labels/memorisation.h"
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

/// An estimate, and where it lies with a probability of 95 %.
struct Estimate {
  double value = 0, low = 0, high = 0;
};

struct Beliefs {
  TransitionFit fit;
  Memorisation memorisation;
  std::vector<Belief> samples;
  Estimate noise_rate;                      ///< the share of wrong labels
  std::vector<Estimate> class_noise_rates;  ///< by given label
  double uncertainty = 0;                   ///< the standard error of the noise rate, beside the luck of single samples
  double doubt = 0;                         ///< the sum of right * (1 - right) over all samples

  /// How many labels of these samples are wrong.
  Estimate expected_wrong(std::span<const std::uint32_t> chosen) const;
};

/// The belief about each label, from what a network predicts and what the labels of all samples show about how they
/// went wrong. There is no parameter that is set for a dataset.
///
/// 1. Samples that the network was trained on are made comparable to those that it was not (memorisation.h).
/// 2. The matrix from true to given labels is read from the samples that are predicted most clearly (transition_fit.h).
/// 3. Bayes: P(true = y | given) is proportional to P(y | image) * T(y, given).
///
/// Throws UserError that names the first label or prediction that does not fit.
Beliefs believe(const BeliefInput& input);

}  // namespace regroup
