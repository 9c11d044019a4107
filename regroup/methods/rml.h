#pragma once

#include <limits>

#include "regroup/methods/method.h"
#include "regroup/rml/regroup_median.h"

namespace regroup {

/// Regroup Median Loss (Li et al., AAAI 2024), without its semi-supervised second half.
class Rml : public Method {
 public:
  explicit Rml(Context& context);

  /// Steps 2 to 6: the losses of the last epoch become the weights of this one. In the first epoch all weights are 1.
  void begin_epoch(int epoch) override;
  void step(std::span<const TensorBatch> batches) override;

  /// Step 1 in the paper's words, where the settings have it so: an extra pass over the samples at the end of an epoch.
  void end_epoch(int epoch) override;

  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::span<const float> weights() const override { return weights_; }
  double own_seconds() const override { return own_seconds_; }
  std::vector<Metric> metrics() const override { return {{"estimated_noise_rate", noise_rate_}}; }
  void collect(State& state) override;

 protected:
  Learner& learner() { return *learner_; }
  std::vector<float>& mutable_weights() { return weights_; }

 private:
  std::unique_ptr<Learner> learner_;
  RegroupMedian estimator_;
  bool in_pass_;
  std::vector<float> weights_;
  double noise_rate_ = std::numeric_limits<double>::quiet_NaN();
  double own_seconds_ = 0;
};

MethodInfo rml_method();

/// The settings of the estimator, for methods that have it.
std::vector<SettingInfo> rml_settings();

/// `ema` where the settings have a momentum model, `model` otherwise.
std::string momentum_model_if_any(const Settings& settings);

/// How the settings `n`, `k`, `select`, `eps` and the ablations choose the estimator; `limit_share` is that of the TrainingSet.
RegroupOptions regroup_options(const Settings& settings, double limit_share);

}  // namespace regroup
