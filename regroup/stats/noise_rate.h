#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "regroup/stats/mixture.h"

namespace regroup {

/// What a noise rate was read from.
enum class NoiseRateBasis {
  nothing,     ///< no losses, or all the same
  mixture,     ///< right and wrong labels show as two components; the rate is the weight of the upper one
  confidence,  ///< they do not; the rate is what the network leaves to the other classes where it is surest
};

/// The share of wrong labels among samples, estimated from the cross-entropies (natural logarithm) of their observed
/// labels.
struct NoiseRate {
  double rate = 0;
  bool reliable = false;  ///< false: the losses do not tell, and the rate is a guess
  NoiseRateBasis basis = NoiseRateBasis::nothing;
  std::size_t samples = 0;  ///< how many losses it was estimated from
  GaussianMixture mixture;  ///< of the log-odds against the observed label, see log_odds_against
};

/// log((1 - p) / p) of a label with probability p = exp(-loss): 0 at even odds, log(c - 1) for a guess among c classes.
/// It rises with the loss, and the losses of right and of wrong labels, skewed as they are, are each near to normal in
/// it.
double log_odds_against(double loss);

/// The noise rate of all samples together. A negative loss marks a sample that has none yet and is left out.
///
/// A mixture of two Gaussians with tied deviations is fitted to the log-odds. It is believed where (1) the two are
/// apart, (2) it fits better than one Gaussian by a margin, (3) neither is a mere tail of the other, and (4) the upper
/// one lies where wrong labels lie: they are given no more probability than a guess, whereas hard samples with right
/// labels are given some. Otherwise the rate is 1 - p, where p is the probability of the 1 % of labels that the network
/// is surest of: a network that follows labels of which a share r is wrong is never surer than 1 - r. That is near 0
/// for clean data once the network has learned something, and near r under so much noise that right and wrong labels
/// have about the same losses; it is reliable only where it is near 0.
///
/// What it cannot see: labels that are wrong in a way that the network believes, such as nearly half of a class under
/// the same other label. Their losses look like those of right labels, and the rate comes out too low.
///
/// Throws UserError that names the first loss that is not finite.
NoiseRate estimate_noise_rate(std::span<const float> losses, int classes);

struct ClassNoiseRates {
  NoiseRate overall;
  std::vector<NoiseRate> by_class;  ///< by observed label
};

/// The noise rate of each class by itself, and of all samples; to be preferred to the above where there are labels and
/// some hundreds of samples per class. Classes differ in how hard they are, which widens the components of all losses
/// together. So where the mixture of all losses shows two components, or (nearly) every class' own does, the overall
/// rate is the mean over the classes: a class whose own mixture is believed counts with its own rate, another with the
/// common one. A class by itself is less certain, as a hard class looks like a noisy one: its rate is reliable only if
/// the overall one is and comes from mixtures.
///
/// `labels[i]` in 0 .. classes - 1 belongs to `losses[i]`; throws UserError that names the first that does not fit.
ClassNoiseRates estimate_class_noise_rates(std::span<const float> losses, std::span<const std::int32_t> labels,
                                           int classes);

}  // namespace regroup
