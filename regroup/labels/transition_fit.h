#pragma once

#include <optional>

#include "regroup/labels/confident.h"
#include "regroup/labels/prediction_book.h"
#include "regroup/labels/prediction_rows.h"
#include "regroup/noise/transition.h"

namespace regroup {

/// Counts of (true label, given label), as far as they are believed, made into probabilities. Where the counts are few,
/// chance is taken out of them: the share of right labels of a class is drawn towards that of all classes, and where
/// wrong labels go is drawn towards all other classes alike, each as far as the counts do not differ by more than
/// chance (an empirical Bayes estimate with a beta and a Dirichlet prior, whose strengths come from the
/// overdispersion).
TransitionMatrix shrunk_transition(const std::vector<double>& counts, int classes);

/// How observed labels come about: the true label follows the network's prediction, made sharper or softer
/// (softmax(sharpness * scores)), and the observed one follows the matrix.
struct TransitionFit {
  TransitionMatrix transition;
  double sharpness = 1;
};

struct TransitionOptions {
  double clear = 0.1;            ///< the share of each predicted class that the matrix is read from
  std::size_t least_clear = 20;  ///< but at least so many
};

/// How often labels differ from the clearest predictions, where the network is nearly always right. Each predicted
/// class counts as often as it is predicted.
struct Disagreement {
  double rate = 0;
  double clear = 0;  ///< how many samples were looked at
};
Disagreement clear_disagreement(const PredictionRows& rows, const TransitionOptions& options = {});

/// The same from predictions that were averaged over the epochs.
Disagreement clear_disagreement(const PredictionBook& book);

/// The matrix from the samples that are predicted most clearly: a label that differs there is wrong. Read from all
/// samples, it would also count right labels that the network does not know; fitted to all (by EM), it would find no
/// noise where the network has learnt to predict wrong labels as often as they come. A network that was trained on
/// these samples is clearest where it was taught what it saw, so that wrong labels are too few among its clearest
/// predictions; therefore the scores of given labels are lowered, all by the same amount, until the clearest ones
/// differ from their labels as often as `noise_rate` says. A class that the network knows badly then looks like one
/// with many wrong labels; so the classes are made alike as far as the matrix leads to the labels that are there.
TransitionMatrix clear_transition(const PredictionRows& rows, double noise_rate, const TransitionOptions& options = {});

/// The sharpness that makes the given labels likeliest.
double fit_sharpness(const PredictionRows& rows, const TransitionMatrix& transition);

/// Bayes: the posterior of the true label, proportional to P(y) T(y, label). Returns the sum of these: how probable the
/// given label is for this sample.
double posterior_of(std::span<const float> row, std::int32_t label, const TransitionFit& fit,
                    std::span<double> posterior);

}  // namespace regroup
