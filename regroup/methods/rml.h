#pragma once

#include <limits>

#include "regroup/methods/method.h"
#include "regroup/rml/regroup_median.h"

namespace regroup {

/// Regroup Median Loss (Li et al., AAAI 2024): how it trains, for the methods that begin with it.
class RmlPhase : public Phase {
 public:
  /// `learner` must outlive it.
  RmlPhase(Context& context, Learner& learner);

  /// Steps 2 to 6: the losses of the last epoch become the weights of this one. Where an epoch draws its samples anew,
  /// it is their losses before the epoch, of a pass of their own, and the classes are what was drawn of them. In the
  /// first epoch all weights are 1.
  void begin_epoch(int epoch) override;
  double step(const Step& step, std::span<const TensorBatch> batches) override;

  /// Step 1 in the paper's words, where that is configured: an extra pass over the samples at the end of an epoch. An
  /// epoch that draws its samples anew needs none.
  void end_epoch(int epoch) override;

  std::vector<float>& weights() { return weights_; }
  std::span<const float> weights() const { return weights_; }
  double own_seconds() const { return own_seconds_; }
  /// The noise rate that k auto follows, and the threshold of the epoch; not a number before there is one.
  std::vector<Metric> metrics() const;
  void collect(State& state);

 private:
  /// Few of the samples that an epoch draws anew have a loss of the last epoch, so that they get one first.
  RegroupReport weigh_drawn(std::uint32_t epoch);

  /// Records the losses of these samples, as they are, by the network in evaluation.
  void record(std::span<const std::uint32_t> slots);

  Learner& learner_;
  RegroupMedian estimator_;
  bool in_pass_;
  std::vector<float> weights_;
  double noise_rate_ = std::numeric_limits<double>::quiet_NaN();
  double threshold_ = std::numeric_limits<double>::quiet_NaN();
  double own_seconds_ = 0;
};

/// The mean estimate of the samples whose loss is above theirs: what weights are nearly min(1, threshold / loss) of,
/// since the means of large groups hardly differ. Not a number where no loss is.
double threshold_of(std::span<const float> weights, std::span<const float> losses);

MethodInfo rml_method();

/// The settings of the estimator, for methods that have it.
std::vector<SettingInfo> rml_settings();

/// How the settings `n`, `k`, `select`, `eps` and the ablations choose the estimator; `limit_share` is that of the
/// TrainingSet.
RegroupOptions regroup_options(const Settings& settings, double limit_share);

}  // namespace regroup
