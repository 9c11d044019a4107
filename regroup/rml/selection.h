#pragma once

#include <span>
#include <vector>

namespace regroup {

/// How likely a sample is selected for its loss.
struct SelectionOptions {
  double epsilon = 1;          ///< the bias of Eq. 2, at least 0
  bool process_losses = true;  ///< false: the ablation without loss processing, Eq. 1
};

/// Eq. 2: l~ = l * (l + epsilon); the loss itself without processing. A sample's selection probability is proportional
/// to exp(-l~) (Eq. 3), and only the exponent is ever stored: exp(-l~) is 0 in floats from a loss of about 9.7 on, and
/// a class may have only such losses.
inline double processed_loss(double loss, const SelectionOptions& options) {
  return options.process_losses ? loss * (loss + options.epsilon) : loss;
}

/// Eq. 3 (Eq. 1 without processing): the logarithms of the selection probabilities of one class.
std::vector<double> log_selection_probabilities(std::span<const float> losses, const SelectionOptions& options);

/// Where the race ends. Give every sample the key -log(u) / w, u uniform and w its weight: the `count` smallest keys
/// are a sequential draw without replacement with those weights (Efraimidis and Spirakis 2006), and tau is the key up
/// to which `count` samples are expected to be. tau times the sum of the weights is also the expected number of draws
/// with replacement until `count` different samples have been seen.
struct RaceEnd {
  double log_tau;  ///< the logarithm, since the weights are exp(-exponent)
  double tries;    ///< tau times the sum of the weights
  double spread;   ///< the standard deviation of the number of keys up to tau
};

/// Solves sum(1 - exp(-tau * exp(-exponents[i]))) = count for tau; 0 < count <= exponents.size().
RaceEnd race_end(std::span<const double> exponents, double count);

}  // namespace regroup
