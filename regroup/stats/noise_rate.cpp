#include "regroup/stats/noise_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "regroup/core/error.h"

namespace regroup {
namespace {

// The constants come from the losses of small convolutional networks on Fashion-MNIST and CIFAR-10, in the first eight
// epochs of training with and without RML, on labels with 0 to 80 % symmetric noise.

struct Tuning {
  /// Within a class, wrong labels spread wider than right ones in log-odds (0.9 to 1.3 times). Over all classes right
  /// labels spread more, because classes differ in how hard they are. With free deviations a component would be spent
  /// on a tail.
  double deviation_ratio;
  /// Under much noise the components run into each other, and the weight of the upper one falls short, more so over all
  /// classes. What the network leaves to other classes where it is surest does not: the rate is pulled that far towards
  /// it.
  double pull;
};
constexpr Tuning within_class = {1.25, 0.25};
constexpr Tuning over_classes = {1.1, 0.5};
// Clean data whose upper component lies where wrong labels would gave a separation of up to 2.3 and a gain in the mean
// log-likelihood of up to 0.036, mostly far less; noisy data after two or three epochs at least 2.3 and 0.04.
constexpr double least_separation = 2.1;
constexpr double least_gain = 0.03;
// Outside of these the lighter component is the tail of the other.
constexpr double least_weight = 0.05;
constexpr double largest_weight = 0.85;
// Two components that run into each other still say more than the surest labels do, if the upper one is no mere tail.
constexpr double hint_separation = 1.8;
constexpr double hint_weight = 0.2;
// A wrong label is given 1/c or less on average: log-odds of log(c - 1) or more, less this for the error of the fit.
constexpr double guess_slack = 0.3;
constexpr double much_noise = 0.5;
constexpr double surest_share = 0.01;
// Above this, a network that is sure of nothing yet cannot be told from noise.
constexpr double sure_enough = 0.05;
constexpr std::size_t fewest_samples = 100;
// The share of the samples whose classes' own mixtures have to be believed where the common one is not.
constexpr double agreeing_share = 0.95;

// Beyond these a loss says nothing more about its label, and float32 rounds the small ones to 0.
constexpr double smallest_loss = 1e-3;
constexpr double largest_loss = 15;

enum class Shape { one, two, perhaps_two, unclear };

/// What the log-odds look like: right labels only, right and wrong ones, or neither for certain.
Shape shape_of(const GaussianMixture& fit, int classes) {
  const double gain = fit.log_likelihood - fit.single_log_likelihood;
  const double separation = fit.separation();
  const bool disbelieved = fit.upper.mean >= std::log(std::max(classes, 2) - 1.0) - guess_slack;
  if (!disbelieved || fit.upper.weight < least_weight) return Shape::one;
  if (fit.upper.weight > largest_weight) return Shape::unclear;
  if (separation >= least_separation && gain >= least_gain) return Shape::two;
  if (separation >= hint_separation && fit.upper.weight >= hint_weight) return Shape::perhaps_two;
  return separation < least_separation ? Shape::one : Shape::unclear;
}

/// The loss of the surest label after leaving out the share that may be chance.
double surest_loss(std::vector<float>& losses) {
  const auto at = static_cast<std::ptrdiff_t>(surest_share * static_cast<double>(losses.size() - 1));
  std::nth_element(losses.begin(), losses.begin() + at, losses.end());
  return losses[static_cast<std::size_t>(at)];
}

/// `losses` are finite, not negative, and are reordered.
NoiseRate estimate(std::vector<float>& losses, int classes, const Tuning& tuning) {
  NoiseRate out;
  out.samples = losses.size();
  if (losses.empty()) return out;

  std::vector<float> log_odds;
  log_odds.reserve(losses.size());
  for (const float loss : losses) log_odds.push_back(static_cast<float>(log_odds_against(loss)));
  GaussianMixtureOptions options;
  options.deviation_ratio = tuning.deviation_ratio;
  options.points = 512;
  options.tolerance = 1e-6;
  out.mixture = fit_gaussian_mixture(log_odds, options);

  const double unsure = -std::expm1(-surest_loss(losses));
  out.rate = unsure;
  if (out.mixture.upper.weight <= 0) return out;

  const Shape shape = shape_of(out.mixture, classes);
  const bool enough = losses.size() >= fewest_samples;
  if (shape == Shape::two || shape == Shape::perhaps_two) {
    out.basis = NoiseRateBasis::mixture;
    const double weight = out.mixture.upper.weight;
    out.rate = weight >= much_noise ? std::max(weight, std::lerp(weight, unsure, tuning.pull)) : weight;
    out.reliable = enough && shape == Shape::two && unsure <= weight;
  } else {
    out.basis = NoiseRateBasis::confidence;
    out.reliable = enough && shape == Shape::one && unsure < sure_enough;
  }
  return out;
}

void check_losses(std::span<const float> losses) {
  const auto odd = std::find_if_not(losses.begin(), losses.end(), [](float loss) { return std::isfinite(loss); });
  if (odd == losses.end()) return;
  throw UserError(fmt::format("the loss of sample {} is {}; lower the learning rate, or look at that sample",
                              odd - losses.begin(), *odd));
}

void check_labels(std::span<const float> losses, std::span<const std::int32_t> labels, int classes) {
  if (labels.size() != losses.size()) {
    throw UserError(fmt::format("{} labels for {} losses; give one label a loss", labels.size(), losses.size()));
  }
  const auto odd = std::find_if(labels.begin(), labels.end(), [&](auto y) { return y < 0 || y >= classes; });
  if (odd == labels.end()) return;
  throw UserError(
      fmt::format("the label of sample {} is {}; expected 0 to {}", odd - labels.begin(), *odd, classes - 1));
}

}  // namespace

double log_odds_against(double loss) { return std::log(std::expm1(std::clamp(loss, smallest_loss, largest_loss))); }

NoiseRate estimate_noise_rate(std::span<const float> losses, int classes) {
  check_losses(losses);
  std::vector<float> known;
  known.reserve(losses.size());
  std::copy_if(losses.begin(), losses.end(), std::back_inserter(known), [](float loss) { return loss >= 0; });
  return estimate(known, classes, over_classes);
}

ClassNoiseRates estimate_class_noise_rates(std::span<const float> losses, std::span<const std::int32_t> labels,
                                           int classes) {
  check_labels(losses, labels, classes);
  ClassNoiseRates out;
  out.overall = estimate_noise_rate(losses, classes);

  std::vector<std::vector<float>> members(static_cast<std::size_t>(std::max(classes, 0)));
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (losses[i] >= 0) members[static_cast<std::size_t>(labels[i])].push_back(losses[i]);
  }
  double wrong = 0, agreeing = 0;
  for (std::vector<float>& own : members) {
    const NoiseRate rate = estimate(own, classes, within_class);
    const bool two = rate.samples >= fewest_samples && shape_of(rate.mixture, classes) == Shape::two;
    const auto samples = static_cast<double>(rate.samples);
    wrong += samples * (two ? rate.rate : out.overall.rate);
    if (two) agreeing += samples;
    out.by_class.push_back(rate);
  }
  const auto samples = static_cast<double>(out.overall.samples);
  const bool agreed = samples > 0 && agreeing >= agreeing_share * samples;
  if (agreed || out.overall.basis == NoiseRateBasis::mixture) {
    out.overall.rate = wrong / samples;
    out.overall.basis = NoiseRateBasis::mixture;
    out.overall.reliable = out.overall.reliable || agreed;
  }
  const bool mixtures = out.overall.reliable && out.overall.basis == NoiseRateBasis::mixture;
  for (NoiseRate& rate : out.by_class) rate.reliable = rate.reliable && mixtures;
  return out;
}

}  // namespace regroup
