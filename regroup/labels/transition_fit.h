#pragma once

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
  double log_likelihood = 0;  ///< per sample
};

struct TransitionOptions {
  double clear = 0.1;            ///< the share of each predicted class that the matrix is read from
  std::size_t least_clear = 20;  ///< but at least so many
};

/// The matrix from the samples that are predicted most clearly, where the network is nearly always right and a label
/// that differs is wrong; the sharpness by the likelihood of all labels under that matrix. Read from all samples, the
/// matrix would also count right labels that the network does not know; fitted together with the sharpness (by EM), it
/// would find no noise at all where the network has learnt to predict the wrong labels as often as they come. `rows`
/// are comparable to those of samples that were not trained on.
TransitionFit fit_transition(const PredictionRows& rows, const TransitionOptions& options = {});

/// A quick estimate of the share of wrong labels: how often they differ from the clearest predictions, where each
/// predicted class counts as often as it is predicted.
double clear_disagreement(const PredictionRows& rows, const TransitionOptions& options = {});

/// Bayes: the posterior of the true label, proportional to P(y) T(y, label). Returns the sum of these: how probable the
/// given label is for this sample.
double posterior_of(std::span<const float> row, std::int32_t label, const TransitionFit& fit,
                    std::span<double> posterior);

}  // namespace regroup
